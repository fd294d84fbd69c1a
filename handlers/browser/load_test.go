//go:build load

package browser

// load keeps the program and the browser as fast and as slow as visitors have them.
const load = true

// kills is the number of times TestKills ends the server. Run it on an idle machine:
//
//	go test -tags load -run TestKills -v ./handlers/browser
const kills = 200
