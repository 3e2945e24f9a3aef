package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/troupe-api/troupe/test/client"
)

var soak = os.Getenv("TROUPE_SOAK") != ""

// abandoned is the environment variable for the assets directory. If it is set, the test binary
// starts a control plane and waits to be killed.
const abandoned = "TROUPE_TEST_ABANDONED"

// assets is the directory in which troupe installed the assets. The troupe binary is then removed,
// because the assets must not depend on it.
var assets = client.NewShared(func() (string, error) {
	dir, err := client.SharedDir()
	if err != nil {
		return "", err
	}
	binary, err := client.BuildTroupe(dir)
	if err != nil {
		return "", err
	}
	assets := filepath.Join(dir, "assets")
	install := exec.Command(binary, "envtest", "install", "--dir", assets, "--kubectl", "none")
	install.Stderr = os.Stderr
	if out, err := install.Output(); err != nil || string(out) != assets+"\n" {
		return "", fmt.Errorf("%q: %w", out, err)
	}
	return assets, os.Remove(binary)
})

func abandon() {
	if _, err := (&envtest.Environment{BinaryAssetsDirectory: os.Getenv(abandoned)}).Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started")
	select {}
}
