package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/policy/remote"
)

type daemonClient struct{ *remote.Client }

// defaultKubeconfig is the kubeconfig path of a daemon started in the current directory.
const defaultKubeconfig = "troupe-data/admin.kubeconfig"

func hasKubeconfig() bool { return os.Getenv("KUBECONFIG") != "" }

// loadDaemonClient loads the kubeconfig at path. If path is empty, it loads the files in
// KUBECONFIG or else the default kubeconfig. It rejects plain HTTP, because requests contain
// administrator credentials.
func loadDaemonClient(path string) (*daemonClient, error) {
	if path == "" && !hasKubeconfig() {
		path = defaultKubeconfig
	}
	s, err := remote.LoadRules(kubeconfig.Rules{Path: path})
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(s.URL(), "https://") {
		return nil, fmt.Errorf("kubeconfig %s: the current context has no https server", cmp.Or(path, os.Getenv("KUBECONFIG")))
	}
	return &daemonClient{s}, nil
}

// backup streams a backup of the daemon to w and verifies it. After an error, the caller must
// discard the written data.
func (r *daemonClient) backup(ctx context.Context, w io.Writer) (persist.Revision, error) {
	body, err := r.get(ctx, daemon.BackupPath)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	return persist.CheckBackup(io.TeeReader(body, w))
}

func (r *daemonClient) get(ctx context.Context, path string) (io.ReadCloser, error) {
	return r.do(ctx, http.MethodGet, path)
}

// do sends a request and returns the response body. Tests may pass a nil ctx.
func (r *daemonClient) do(ctx context.Context, method, path string) (io.ReadCloser, error) {
	body, err := r.Do(cmp.Or(ctx, context.Background()), method, path)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", r.URL(), path, err)
	}
	return body, nil
}
