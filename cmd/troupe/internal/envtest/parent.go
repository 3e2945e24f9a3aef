package envtest

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// parentPeriod is the interval between checks of the parent process. Each costs one system call.
const parentPeriod = 200 * time.Millisecond

const tempPrefix = "k8s_test_framework_"

// followParent shuts this process down when its parent exits, because a killed test cannot stop its
// children. It first removes the directories in dirs that envtest created.
//
// It polls the parent process ID, which changes when the process is orphaned. PR_SET_PDEATHSIG is
// unsuitable, because it fires when the parent's thread exits, possibly before its process.
func followParent(log *slog.Logger, dirs ...string) {
	parent := os.Getppid()
	if parent <= 1 {
		return // an orphan already; its parent never changes
	}
	go func() {
		for os.Getppid() == parent {
			time.Sleep(parentPeriod)
		}
		log.Info("the parent process has ended", "pid", parent)
		for _, dir := range dirs {
			if isTemporary(dir) {
				_ = os.RemoveAll(dir) // this process exits anyway
			}
		}
		endSelf()
	}()
}

func isTemporary(dir string) bool {
	clean := filepath.Clean(dir)
	return filepath.Dir(clean) == filepath.Clean(os.TempDir()) && strings.HasPrefix(filepath.Base(clean), tempPrefix)
}
