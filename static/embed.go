// Package static holds the files a browser loads beside the pages.
package static

import "embed"

// Files are the style sheet, the icon and the ES modules.
//
//go:embed app.css icon.svg js/*.js
var Files embed.FS
