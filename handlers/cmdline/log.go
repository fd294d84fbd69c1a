package cmdline

import (
	"fmt"
	"io"
	"log/slog"
)

// Log adds the flags for logging and returns the constructor of the logger, to be called after
// Parse.
func (f *Flags) Log() func(w io.Writer) *slog.Logger {
	f.Heading("Log")
	json := false
	f.Func("log-format", "text|json", "Log format: text for people, json for programs. (default text)", func(text string) error {
		if json = text == "json"; !json && text != "text" {
			return fmt.Errorf("must be text or json, not %q", text)
		}
		return nil
	})
	var level slog.Level
	f.Func("log-level", "LEVEL", "Lowest level to log: debug, info, warn or error. (default info)", func(text string) error {
		if err := level.UnmarshalText([]byte(text)); err != nil {
			return fmt.Errorf("must be debug, info, warn or error, not %q", text)
		}
		return nil
	})
	return func(w io.Writer) *slog.Logger {
		options := &slog.HandlerOptions{Level: level}
		if json {
			return slog.New(slog.NewJSONHandler(w, options))
		}
		return slog.New(slog.NewTextHandler(w, options))
	}
}
