package daemon

import (
	"io"
	"log/slog"
)

// New makes the log that the settings ask for. The levels of verbosity in between have no meaning
// here; the flag has them because other servers of this API do.
func (c Logging) New(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{}
	if c.Verbosity >= 2 {
		options.Level = slog.LevelDebug
	}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
