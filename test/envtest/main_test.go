package envtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/troupe-api/troupe/test/client"
)

// assets is the folder that the command has filled.
var assets string

// soak says that the long forms of the suites run.
var soak = os.Getenv("TROUPE_SOAK") != ""

// abandoned is the variable by which the test binary is told to start a control plane and wait to be killed.
const abandoned = "TROUPE_TEST_ABANDONED"

func TestMain(m *testing.M) {
	if os.Getenv(abandoned) != "" {
		abandon()
	}
	os.Exit(run(m))
}

// run fills the folder, from a binary that is gone before anything starts.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "troupe-envtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary, err := client.BuildTroupe(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	assets = filepath.Join(dir, "assets")
	install := exec.Command(binary, "envtest", "install", "--dir", assets, "--kubectl", "none")
	install.Stderr = os.Stderr
	if out, err := install.Output(); err != nil || string(out) != assets+"\n" {
		fmt.Fprintf(os.Stderr, "%q %v\n", out, err)
		return 1
	}
	if err := os.Remove(binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("KUBEBUILDER_ASSETS", assets)
	log.SetLogger(logr.Discard())
	return m.Run()
}

// abandon starts a control plane, says so and waits.
func abandon() {
	if _, err := (&envtest.Environment{}).Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started")
	select {}
}
