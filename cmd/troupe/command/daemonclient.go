package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/policy/remote"
)

// daemonClient sends requests to a running daemon.
type daemonClient struct{ *remote.Client }

// defaultKubeconfig is the client configuration of a daemon that was started here.
const defaultKubeconfig = "troupe-data/admin.kubeconfig"

// kubeconfigFlag is the flag that names the client configuration of a running daemon.
func kubeconfigFlag(c *cobra.Command) *string {
	return c.Flags().String("kubeconfig", "", "Client configuration of the running daemon; else that of KUBECONFIG.")
}

// hasKubeconfig reports whether KUBECONFIG names client configurations.
func hasKubeconfig() bool { return os.Getenv("KUBECONFIG") != "" }

// loadDaemonClient reads the client configuration at path, or else that of KUBECONFIG, or else the default one.
//
// Plain HTTP is refused, because the requests carry the credentials of an administrator.
func loadDaemonClient(path string) (*daemonClient, error) {
	if path == "" && !hasKubeconfig() {
		path = defaultKubeconfig
	}
	s, err := remote.LoadRules(kubeconfig.Rules{Path: path})
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(s.URL(), "https://") {
		return nil, fmt.Errorf("client configuration %s: the current context names no https server", cmp.Or(path, os.Getenv("KUBECONFIG")))
	}
	return &daemonClient{s}, nil
}

// backup writes a backup of the daemon's state to w and checks that it is whole.
//
// What has been read is written at the same time, so nothing is held in memory; the caller throws away what turns out
// not to be whole.
func (r *daemonClient) backup(ctx context.Context, w io.Writer) (persist.Revision, error) {
	body, err := r.get(ctx, daemon.BackupPath)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	return persist.CheckBackup(io.TeeReader(body, w))
}

// get opens the answer to a GET that must be welcome.
//
// The context is that of the command, which has none where a test runs it without.
func (r *daemonClient) get(ctx context.Context, path string) (io.ReadCloser, error) {
	return r.do(ctx, http.MethodGet, path)
}

// do is get with another method.
func (r *daemonClient) do(ctx context.Context, method, path string) (io.ReadCloser, error) {
	body, err := r.Do(cmp.Or(ctx, context.Background()), method, path)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", r.URL(), path, err)
	}
	return body, nil
}
