package envtest

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// parentPeriod is how often it is looked whether the parent is still there. A look is one system call.
const parentPeriod = 200 * time.Millisecond

// tempPrefix is how the names of the directories begin that envtest makes, among temporary files.
const tempPrefix = "k8s_test_framework_"

// followParent ends this process, as by SIGTERM, soon after its parent has ended: a test that is killed cannot end what it has
// started. What envtest has made for this process then goes, too, since nobody else will remove it; other directories stay.
//
// It asks for the number of the parent, which becomes another one when an orphan is adopted. A death signal of the kernel would
// come when the thread ends that has started this process, which in Go is not when the process does.
func followParent(log *slog.Logger, dirs ...string) {
	parent := os.Getppid()
	if parent <= 1 {
		return // it is the parent of orphans, too: there is nothing to tell them by
	}
	go func() {
		for os.Getppid() == parent {
			time.Sleep(parentPeriod)
		}
		log.Info("the process that has started this one has ended", "pid", parent)
		for _, dir := range dirs {
			if isTemporary(dir) {
				_ = os.RemoveAll(dir) // nobody is left to be told
			}
		}
		endSelf()
	}()
}

// isTemporary says whether envtest has made a directory for itself.
func isTemporary(dir string) bool {
	clean := filepath.Clean(dir)
	return filepath.Dir(clean) == filepath.Clean(os.TempDir()) && strings.HasPrefix(filepath.Base(clean), tempPrefix)
}
