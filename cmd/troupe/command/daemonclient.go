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
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/persist"
)

type daemonClient struct{ *rest.Client }

// defaultKubeconfig is the kubeconfig path of a daemon started in the current directory.
const defaultKubeconfig = "troupe-data/admin.kubeconfig"

func hasKubeconfig() bool { return os.Getenv("KUBECONFIG") != "" }

// loadDaemonClient is like loadClient, but rejects plain HTTP, because requests contain
// administrator credentials.
func loadDaemonClient(c *cobra.Command, path string) (*daemonClient, error) {
	s, err := loadClient(c, path, "")
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(s.Server(), "https://") {
		return nil, fmt.Errorf("%s: the server of the kubeconfig's current context must have an https URL", s.Server())
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

// do sends a request and returns the response body, which is not compressed. Tests may pass a nil
// ctx.
func (r *daemonClient) do(ctx context.Context, method, path string) (io.ReadCloser, error) {
	return r.Stream(cmp.Or(ctx, context.Background()), rest.Request{
		Method: method, Path: path, Header: http.Header{"Accept-Encoding": {"identity"}},
	})
}
