package nodes

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/realnode"
)

var (
	cluster *realnode.Cluster
	builtIn = flag.Bool("built-in", false, "Use the server's own controllers and scheduler.")
	etcd    = flag.Bool("etcd", false, "Run three API servers on etcd, behind a load balancer.")
)

func TestMain(m *testing.M) {
	flag.Parse()
	realnode.Main("nodes", "..", func(ctx context.Context, dir string, p realnode.Programs) (err error) {
		if cluster, err = realnode.Start(ctx, dir, p, realnode.Options{Nodes: 2, Etcd: *etcd, BuiltIn: *builtIn, CertificateLifetime: 5 * time.Minute}); err != nil {
			return err
		}
		defer cluster.Stop()
		if code := m.Run(); code != 0 {
			return fmt.Errorf("failed; exit status %d", code)
		}
		return nil
	}, addonPrograms...)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := cluster.Run(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func apply(t *testing.T, manifest string) {
	t.Helper()
	if _, err := cluster.RunWith(manifest, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, want string, args ...string) {
	t.Helper()
	client.Eventually(t, func() error {
		out, err := cluster.Run(args...)
		if err == nil && !strings.Contains(out, want) {
			err = fmt.Errorf("kubectl %s: want %q in\n%s", strings.Join(args, " "), want, out)
		}
		return err
	})
}

func namespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	kubectl(t, "create", "namespace", name)
	t.Cleanup(func() { kubectl(t, "delete", "namespace", name, "--wait=false") })
	return name
}
