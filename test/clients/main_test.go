package clients

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/troupe-api/troupe/test/client"
)

// TestMain discards the logs of client libraries. In a child process of TestEnvtestKilled or
// TestRecordManager, it runs a control plane or a manager instead of the tests.
func TestMain(m *testing.M) {
	if os.Getenv(abandoned) != "" {
		abandon()
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	log.SetLogger(logr.Discard())
	if team := os.Getenv(recordedTeam); team != "" {
		if err := runTeamManager(team); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(client.Main(m))
}
