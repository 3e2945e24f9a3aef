package storage

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// releases returns the cells of the table of releases in docs/kubernetes-versions.md, newest first.
func releases(t *testing.T) (rows [][]string) {
	t.Helper()
	row := regexp.MustCompile(`(?m)^\| (next|\d+\.\d+\.\d+) \| (.+) \| (.+) \| (.+) \| (.+) \|$`)
	for _, match := range row.FindAllStringSubmatch(string(client.ReadFile(t, "../../docs/kubernetes-versions.md")), -1) {
		rows = append(rows, match[1:])
	}
	return rows
}

// TestReleases checks that the table of releases has a row for each release, and that the first row
// describes this one.
func TestReleases(t *testing.T) {
	t.Parallel()
	rows := releases(t)
	var names []string
	for _, row := range rows {
		names = append(names, row[0])
	}
	var want []string
	for _, match := range regexp.MustCompile(`(?m)^## (\S+)`).FindAllStringSubmatch(string(client.ReadFile(t, "../../CHANGELOG.md")), -1) {
		want = append(want, strings.Replace(match[1], "Unreleased", "next", 1))
	}
	if !slices.Equal(names, want) || len(want) < 3 {
		t.Fatalf("the table has %q, want %q as in CHANGELOG.md", names, want)
	}
	for tag := range strings.FieldsSeq(string(must.Get(exec.Command("git", "tag", "--list", "v*").Output())(t))) {
		if !slices.Contains(names, strings.TrimPrefix(tag, "v")) {
			t.Errorf("the table has no row for the tag %s", tag)
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	p := serveProcess(t, dir)
	var version struct{ Major, Minor string }
	client.Decode(t, p.caller().must(t, 200, "GET", "/version", ""), &version)
	p.Stop()
	var directory struct{ Format json.Number }
	first, _, _ := strings.Cut(string(client.ReadFile(t, dir+"/format")), "\n")
	must.Succeed(t, json.NewDecoder(strings.NewReader(first[strings.Index(first, "{"):])).Decode(&directory))
	etcd := []string{}
	for _, module := range must.Get(os.ReadDir("../etcdserver"))(t) {
		etcd = append(etcd, module.Name())
	}
	next := rows[0]
	if next[1] != version.Major+"."+version.Minor || next[2] != directory.Format.String() {
		t.Errorf("the table has Kubernetes %s and format %s, want %s.%s and %s", next[1], next[2], version.Major, version.Minor, directory.Format)
	}
	for _, minor := range etcd {
		if !strings.Contains(next[4], minor) {
			t.Errorf("the table has etcd %s, want %s among them", next[4], minor)
		}
	}
	// A release reads the formats that earlier releases write, and its own. TestUpgrade opens the
	// data of an earlier release, and persist.TestNewerFormat that of a newer one.
	written := map[string]bool{}
	for _, row := range slices.Backward(rows) {
		written[row[2]] = true
		for format := range written {
			if !slices.Contains(strings.Split(row[3], ", "), format) {
				t.Errorf("%s reads the formats %s, want %s among them", row[0], row[3], format)
			}
		}
	}
}
