package client

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
)

// BuildKubectl builds kubectl and returns its path in dir.
func BuildKubectl(dir string) (string, error) {
	return Build(dir, "kubectl", "tools/kubectl", "-X k8s.io/component-base/version.gitVersion=v1.37.2")
}

// Build builds a program from a folder of the test module and returns its path in dir. The program
// may use third-party libraries and package worker.
//
// The program is cached in the user's cache directory for all suites and clones. Linking kubectl
// takes 12 s of CPU time, and "go build" takes 2 s even for an up-to-date program. The cache key
// consists of the library versions and the folder's content.
func Build(dir, name, folder, ldflags string) (string, error) {
	kept, err := programCache("libraries")
	if err != nil {
		return "", err
	}
	module, err := moduleDir()
	if err != nil {
		return "", err
	}
	return keep(dir, filepath.Join(kept, name), func(program string) error {
		key, err := contentsOf(ldflags, module, "go.mod", "go.sum", filepath.Join(folder, "*.go"), "tools/worker/*.go")
		if err != nil {
			return err
		}
		record := program + ".key"
		if last, err := os.ReadFile(record); err == nil && string(last) == key {
			if _, err := os.Stat(program); err == nil {
				return nil
			}
		}
		if err := os.RemoveAll(record); err != nil {
			return err
		}
		if err := goBuild(module, program, "-ldflags", "-s -w "+ldflags, "./"+folder); err != nil {
			return err
		}
		return os.WriteFile(record, []byte(key), 0o600)
	})
}

// BuildTroupe builds troupe like "make build", with the main module's libraries, and returns its
// path in dir. Each clone caches its own binary in the user's cache directory.
//
// Even an up-to-date check takes 2 s of CPU time. "make test" therefore builds troupe once for all
// suites and sets TROUPE_PROGRAM to its path.
func BuildTroupe(dir string) (string, error) {
	if program := os.Getenv("TROUPE_PROGRAM"); program != "" {
		return linkProgram(dir, program)
	}
	return buildOwn(dir, "troupe", "..", "./cmd/troupe")
}

// BuildTroupeWorker builds the troupe worker and returns its path in dir.
func BuildTroupeWorker(dir string) (string, error) {
	return buildOwn(dir, "troupe-worker", ".", "./tools/troupe")
}

// buildOwn builds a program of this project. folder is relative to from, which is relative to the
// test module.
func buildOwn(dir, name, from, folder string) (string, error) {
	module, err := moduleDir()
	if err != nil {
		return "", err
	}
	kept, err := programCache(fmt.Sprintf("%x", sha256.Sum256([]byte(module)))[:16])
	if err != nil {
		return "", err
	}
	return keep(dir, filepath.Join(kept, name), func(program string) error {
		return goBuild(filepath.Join(module, from), program, "-ldflags", "-s -w", folder)
	})
}

// ClockOffset is the environment variable with the clock offset, in seconds, of programs built by
// BuildTroupeWithClock.
const ClockOffset = "TROUPE_TEST_CLOCK_OFFSET"

// BuildTroupeWithClock builds troupe like BuildTroupe, but with a patched time package that shifts
// the clock.
func BuildTroupeWithClock(dir string) (string, error) {
	kept, err := programCache("clock")
	if err != nil {
		return "", err
	}
	module, err := moduleDir()
	if err != nil {
		return "", err
	}
	return keep(dir, filepath.Join(kept, "troupe"), func(program string) error {
		overlay, err := clockOverlay(kept)
		if err != nil {
			return err
		}
		return goBuild(filepath.Dir(module), program, "-trimpath", "-overlay", overlay, "-ldflags", "-s -w", "./cmd/troupe")
	})
}

// clockOverlay writes a "go build" overlay that replaces files of package time, and returns its
// path.
func clockOverlay(dir string) (string, error) {
	command := exec.Command("go", "env", "GOROOT")
	out, err := command.Output()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(strings.TrimSpace(string(out)), "src", "time")
	text, err := os.ReadFile(filepath.Join(folder, "time.go"))
	if err != nil {
		return "", err
	}
	const asks, first = "func Now() Time {\n", "\tsec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), asks+first) != 1 {
		return "", errors.New("package time asks for the time in another way than it did")
	}
	replaced := strings.Replace(string(text), asks+first, asks+first+"\tsec += clockOffset\n", 1)
	const offset = `package time

import "syscall"

var clockOffset = func() int64 {
	text, _ := syscall.Getenv("` + ClockOffset + `")
	seconds, _ := atoi(text)
	return int64(seconds)
}()
`
	files := map[string]string{"time.go": replaced, "clockoffset.go": offset}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, content := range files {
		path := filepath.Join(dir, name+".txt")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(folder, name)] = path
	}
	if text, err = json.Marshal(overlay); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// moduleDir returns the directory of the test module: the working directory or its nearest parent
// with a go.mod file.
func moduleDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above %s", start)
		}
	}
}

func goBuild(seenFrom, program string, args ...string) error {
	command := exec.Command("go", append([]string{"build", "-o", program}, args...)...)
	command.Dir, command.Env = seenFrom, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %q: %w\n%s", args, err, out)
	}
	return nil
}

// keep builds a cached program under a lock and links it into dir. Later builds then do not change
// the program that a suite runs.
func keep(dir, program string, build func(program string) error) (string, error) {
	unlock, err := lock(program + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := build(program); err != nil {
		return "", err
	}
	return linkProgram(dir, program)
}

func linkProgram(dir, program string) (string, error) {
	to := filepath.Join(dir, filepath.Base(program))
	if err := os.Link(program, to); errors.Is(err, syscall.EXDEV) {
		return to, copyProgram(program, to)
	} else if err != nil {
		return "", err
	}
	return to, nil
}

// contentsOf returns a digest of the toolchain version, text, and the files in dir that match
// patterns.
func contentsOf(text, dir string, patterns ...string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %s %q\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, text)
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %x\n", file, sha256.Sum256(content))
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

func programCache(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "troupe-test", name)
	return dir, os.MkdirAll(dir, 0o700)
}

func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := processes.WaitForLock(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

func copyProgram(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o700)
}
