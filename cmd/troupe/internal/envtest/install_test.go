package envtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

func write(t *testing.T, path string, mode os.FileMode) string {
	t.Helper()
	must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Succeed(t, os.WriteFile(path, []byte(path), mode))
	return path
}

func TestInstall(t *testing.T) {
	root := t.TempDir()
	first, second := write(t, filepath.Join(root, "1", "troupe"), 0o700), write(t, filepath.Join(root, "2", "troupe"), 0o700)
	onPath, named := write(t, filepath.Join(root, "bin", "kubectl"), 0o700), write(t, filepath.Join(root, "other", "kubectl"), 0o700)
	text := write(t, filepath.Join(root, "text"), 0o600)
	dir := filepath.Join(root, "a", "b")
	t.Setenv("PATH", strings.Join([]string{dir, filepath.Join(root, "nowhere"), filepath.Dir(onPath)}, string(filepath.ListSeparator)))
	for _, step := range []struct {
		name, binary, kubectl string
		holds                 string // content of kubectl; "" if it is missing
		says                  string // text in the log or the error
		fails                 bool
	}{
		{"without kubectl", first, NoKubectl, "", "copies of this program", false},
		{"by PATH", first, "", onPath, "a link to " + onPath, false},
		{"by name", second, named, named, "a link to " + named, false},
		{"no program", second, text, named, "is not a program", true},
		{"nowhere", second, filepath.Join(root, "kubectl"), named, "no such file", true},
		{"no binary", filepath.Join(root, "troupe"), NoKubectl, named, "no such file", true},
		{"again, with itself on PATH", first, "", onPath, "a link to " + onPath, false},
	} {
		var log bytes.Buffer
		err := Install(t.Context(), Installation{Dir: dir, Binary: step.binary, Kubectl: step.kubectl, Log: &log})
		if (err != nil) != step.fails || err == nil && !strings.Contains(log.String(), step.says) || err != nil && !strings.Contains(err.Error(), step.says) {
			t.Errorf("%s: %v\n%s", step.name, err, &log)
		}
		for _, name := range Programs {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || step.binary != filepath.Join(root, "troupe") && string(data) != step.binary {
				t.Errorf("%s: %s holds %s, %v", step.name, name, data, err)
			}
		}
		data, err := os.ReadFile(filepath.Join(dir, "kubectl"))
		if string(data) != step.holds || step.holds == "" && !os.IsNotExist(err) {
			t.Errorf("%s: kubectl holds %s, %v", step.name, data, err)
		}
	}
	var names []string
	entries := must.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"etcd", "kube-apiserver", "kubectl"}; !slices.Equal(names, want) {
		t.Errorf("the folder holds %v, want %v", names, want)
	}
	t.Setenv("PATH", root)
	var log bytes.Buffer
	if err := Install(t.Context(), Installation{Dir: filepath.Join(root, "c"), Binary: first, Log: &log}); err != nil || !strings.Contains(log.String(), "--kubectl=build") {
		t.Errorf("no kubectl anywhere: %v\n%s", err, &log)
	}
}
