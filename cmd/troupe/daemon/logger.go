package daemon

import (
	"io"
	"log/slog"
)

// New returns a logger that writes to w. Debug messages require a verbosity of at least 2. Other
// levels exist only for compatibility with kube-apiserver.
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
