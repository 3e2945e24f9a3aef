package command

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc/grpclog"
)

// TestLibraryLogs checks that what libraries log is part of the server's log.
func TestLibraryLogs(t *testing.T) {
	before, flags, writer := slog.Default(), log.Flags(), log.Writer()
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetFlags(flags)
		log.SetOutput(writer)
	})
	var out bytes.Buffer
	logLibraries(slog.New(slog.NewJSONHandler(&out, nil)))
	log.Print("from package log")
	slog.Info("from package slog")
	grpclog.Component("test").Error("from package grpclog")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("got %d lines, want 3:\n%s", len(lines), &out)
	}
	for i, want := range []string{"from package log", "from package slog", "from package grpclog"} {
		if !strings.HasPrefix(lines[i], `{"time":`) || !strings.Contains(lines[i], want) {
			t.Errorf("got %s, want %q", lines[i], want)
		}
	}
}
