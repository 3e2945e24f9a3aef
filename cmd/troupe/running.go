package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/remote"
)

// running is a running daemon, and who asks it.
type running struct{ *remote.Service }

// kubeconfigFlag is the flag that names the client configuration of a running daemon.
func kubeconfigFlag(c *cobra.Command, otherwise string) *string {
	return c.Flags().String("kubeconfig", otherwise, "Client configuration of the running daemon.")
}

// findRunning reads the client configuration at path.
func findRunning(path string) (*running, error) {
	s, err := remote.Load(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(s.URL(), "https://") {
		return nil, fmt.Errorf("client configuration %s: the current context names no https server", path)
	}
	return &running{s}, nil
}

// backup writes a backup of the daemon's state to w and checks that it is whole.
func (r *running) backup(ctx context.Context, w io.Writer) (persist.Revision, error) {
	body, err := r.get(ctx, daemon.BackupPath)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	return persist.CheckBackup(io.TeeReader(body, w))
}

// get opens the answer to a GET that must be welcome.
func (r *running) get(ctx context.Context, path string) (io.ReadCloser, error) {
	body, err := r.Open(cmp.Or(ctx, context.Background()), path)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", r.URL(), path, err)
	}
	return body, nil
}
