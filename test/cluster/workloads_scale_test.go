package cluster

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
	"github.com/troupe-api/troupe/test/client"
)

// TestTenThousand logs the elapsed time and CPU time for scaling a Deployment up and down without a
// kubelet. The Deployment has 200 Pods, or 10,000 with TROUPE_SOAK.
func TestTenThousand(t *testing.T) {
	if os.Getenv("TROUPE_SOAK") == "" {
		t.Log("TROUPE_SOAK is not set: using 200 Pods")
	}
	n := 200
	if os.Getenv("TROUPE_SOAK") != "" {
		n = 10_000
	}
	c := openWorkloads(t)
	c.kubelet.Stop()
	measure := func(name string, do func()) {
		begin, cpu := time.Now(), cpuTime()
		do()
		t.Logf("%s: %v, %v of CPU", name, time.Since(begin).Round(time.Millisecond), (cpuTime() - cpu).Round(time.Millisecond))
	}
	path := deployments + "/big"
	measure(fmt.Sprint(n, " up"), func() {
		c.create(deployments, deployment("big", fmt.Sprintf(`"replicas":%d`, n), template("big", "one", "")))
		c.wait(path, map[string]any{"status.replicas": n})
	})
	measure("down", func() {
		c.patch(path, `{"spec":{"replicas":0}}`)
		c.wait(path, map[string]any{"status.replicas": nil})
		client.Eventually(t, func() error {
			if n := len(c.list(pods, "app=big")); n > 0 {
				return fmt.Errorf("%d Pods", n)
			}
			return nil
		})
	})
}

func cpuTime() time.Duration {
	used, err := processes.CPUTime()
	if err != nil {
		return 0
	}
	return used
}
