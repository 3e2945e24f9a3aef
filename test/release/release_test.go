package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/command"
	"github.com/troupe-api/troupe/internal/must"
)

var update = flag.Bool("update", false, "write docs/deploy/kustomize-etcd")

const testVersion = "0.3.0"

var testPlatform = platform{"linux", "amd64"}

// built returns a release of the working tree for one platform. All tests share it.
var built = sync.OnceValues(func() (*release, error) {
	var err error
	toClose, err = write(filepath.Join(shared, "dist"))
	return toClose, err
})

// repository returns a repository whose only commit is the working tree.
var repository = sync.OnceValues(func() (string, error) { return commitWorkingTree(context.Background()) })

// toClose is the release returned by built, if any.
var toClose *release

// shared is a directory that lasts for the whole test run.
var shared string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if shared, err = os.MkdirTemp("", "troupe-release-test-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if toClose != nil {
		if err := toClose.close(); err != nil {
			panic(err)
		}
	}
	if err := os.RemoveAll(shared); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// write writes a release of the working tree. It keeps the release's temporary directory.
func write(out string) (*release, error) {
	ctx := context.Background()
	repository, err := repository()
	if err != nil {
		return nil, err
	}
	r, err := newRelease(ctx, repository, "HEAD", options{version: testVersion, out: out, platforms: []platform{testPlatform}})
	if err != nil {
		return nil, err
	}
	return r, r.write(ctx)
}

// commitWorkingTree commits the working tree to a new repository and returns its directory. The
// sources may not be in a repository.
func commitWorkingTree(ctx context.Context) (dir string, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(shared, "repository")
	env := []string{
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com",
		"GIT_AUTHOR_DATE=2026-11-30T12:00:00Z", "GIT_COMMITTER_DATE=2026-11-30T12:00:00Z", "GIT_DIR=" + dir, "GIT_WORK_TREE=" + root,
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "--all"}, {"commit", "--quiet", "--message", "test"}} {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir, c.Env = root, append(os.Environ(), env...)
		if _, err := output(c); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// TestReproducible checks that two releases of a commit, built in different directories, contain
// the same files. The checksums must match the files.
func TestReproducible(t *testing.T) {
	t.Parallel()
	first := must.Get(built())(t)
	second := must.Get(write(filepath.Join(t.TempDir(), "again")))(t)
	defer func() { must.Succeed(t, second.close()) }()
	sums := string(must.Get(os.ReadFile(filepath.Join(first.out, "SHA256SUMS")))(t))
	if again := string(must.Get(os.ReadFile(filepath.Join(second.out, "SHA256SUMS")))(t)); sums != again {
		t.Errorf("the first release has\n%s\nthe second\n%s", sums, again)
	}
	var names []string
	for line := range strings.Lines(sums) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := must.Get(sum(filepath.Join(first.out, name)))(t); got != digest {
			t.Errorf("%s: checksum %s, SHA256SUMS has %s", name, got, digest)
		}
		names = append(names, name)
	}
	want := []string{
		"provenance.intoto.json", "troupe-0.3.0-1.x86_64.rpm", "troupe-0.3.0.tgz", "troupe.rb", "troupe_0.3.0-1_amd64.deb",
		"troupe_0.3.0_linux_amd64.cdx.json", "troupe_0.3.0_linux_amd64.tar.gz", "troupe_0.3.0_oci.tar",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// TestArchive unpacks the archive, compares its files with the commands, and runs the program.
func TestArchive(t *testing.T) {
	t.Parallel()
	r := must.Get(built())(t)
	dir := t.TempDir()
	outputOf(t, "tar", "-xzf", r.named(testPlatform, ".tar.gz"), "-C", dir)
	dir = filepath.Join(dir, "troupe_0.3.0_linux_amd64")
	want := []string{"LICENSE", "THIRD_PARTY_NOTICES.txt", "completions/_troupe", "completions/troupe.bash", "completions/troupe.fish", "completions/troupe.ps1", "troupe"}
	var eachCommand func(c *cobra.Command)
	eachCommand = func(c *cobra.Command) {
		if c.IsAvailableCommand() || !c.HasParent() {
			want = append(want, "man/man1/"+strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		}
		for _, sub := range c.Commands() {
			eachCommand(sub)
		}
	}
	eachCommand(command.Root())
	slices.Sort(want)
	var got []string
	must.Succeed(t, eachFile(os.DirFS(dir), func(name string, info fs.FileInfo) error {
		got = append(got, name)
		if isProgram := name == "troupe"; info.Mode()&0o111 != 0 != isProgram {
			t.Errorf("%s has mode %s", name, info.Mode())
		}
		return nil
	}))
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	version := outputOf(t, filepath.Join(dir, "troupe"), "version")
	for _, line := range []string{"troupe 0.3.0", "commit      " + r.commit, "date        2026-11-30T12:00:00Z", "platform    linux/amd64"} {
		if !strings.Contains(version, line+"\n") {
			t.Errorf("no %q in %s", line, version)
		}
	}
	page := string(must.Get(os.ReadFile(filepath.Join(dir, "man/man1/troupe-backup.1")))(t))
	for _, text := range []string{`.TH "TROUPE-BACKUP" "1" "Nov 2026" "Troupe 0.3.0" "Troupe"`, "\\fB--kubeconfig\\fP"} {
		if !strings.Contains(page, text) {
			t.Errorf("troupe-backup.1: no %q in\n%s", text, page)
		}
	}
	notices := string(must.Get(os.ReadFile(filepath.Join(dir, "THIRD_PARTY_NOTICES.txt")))(t))
	for _, title := range []string{"\nGo 1.", "\ngithub.com/valyala/fasthttp v1.", "\npreact "} {
		if !strings.Contains(notices, title) {
			t.Errorf("THIRD_PARTY_NOTICES.txt: no %q", title)
		}
	}
}

// need fails the test if a program is missing. `.ci/suite release` installs all of them.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Fatal(err)
		}
	}
}

func outputOf(t *testing.T, name string, args ...string) string {
	t.Helper()
	return string(must.Get(output(exec.CommandContext(t.Context(), name, args...)))(t))
}

// TestZip checks names, modes and times in archives for Windows.
func TestZip(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	must.Succeed(t, writeZip(&b, fstest.MapFS{"troupe.exe": {Data: []byte("x"), Mode: 0o700}, "man/a.1": {Mode: 0o600}}, "troupe_0.3.0", date))
	z := must.Get(zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	got := map[string]fs.FileMode{}
	for _, f := range z.File {
		got[f.Name] = f.Mode()
		if !f.Modified.Equal(date) {
			t.Errorf("%s: %s", f.Name, f.Modified)
		}
	}
	if want := map[string]fs.FileMode{"troupe_0.3.0/troupe.exe": 0o755, "troupe_0.3.0/man/a.1": 0o644}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSBOM compares the SBOM with the output of go version -m for the program.
func TestSBOM(t *testing.T) {
	t.Parallel()
	r := must.Get(built())(t)
	program := filepath.Join(r.work, "stage/linux_amd64/troupe")
	var bom cdx.BOM
	must.Succeed(t, json.Unmarshal(must.Get(os.ReadFile(r.named(testPlatform, ".cdx.json")))(t), &bom))
	if c := bom.Metadata.Component; c.Version != testVersion || (*c.Hashes)[0].Value != must.Get(sum(program))(t) {
		t.Errorf("the component is %+v", c)
	}
	want := map[string]string{"std": strings.TrimPrefix(must.Get(buildinfo.ReadFile(program))(t).GoVersion, "go")}
	for line := range strings.Lines(outputOf(t, "go", "version", "-m", program)) {
		if f := strings.Fields(line); f[0] == "dep" {
			want[f[1]] = f[2]
		}
	}
	got := map[string]string{}
	npm := 0
	for _, c := range *bom.Components {
		if len(*c.Licenses) == 0 {
			t.Errorf("%s has no license", c.Name)
		}
		if strings.HasPrefix(c.PackageURL, "pkg:npm/") {
			npm++
			continue
		}
		got[c.Name] = c.Version
	}
	if !maps.Equal(got, want) || len(want) < 40 {
		t.Errorf("got %v, want %v", got, want)
	}
	if npm < 5 {
		t.Errorf("%d npm packages", npm)
	}
	if d := (*bom.Dependencies)[0]; len(*d.Dependencies) != len(*bom.Components) {
		t.Errorf("%d dependencies and %d components", len(*d.Dependencies), len(*bom.Components))
	}
}

// TestProvenance checks that the statement contains the commit and all other files of the release.
func TestProvenance(t *testing.T) {
	t.Parallel()
	r := must.Get(built())(t)
	var s struct {
		Type    string `json:"_type"`
		Subject []struct {
			Name   string
			Digest map[string]string
		}
		PredicateType string
		Predicate     struct {
			BuildDefinition struct {
				ExternalParameters   map[string]string
				ResolvedDependencies []struct{ Digest map[string]string }
			}
		}
	}
	must.Succeed(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(r.out, "provenance.intoto.json")))(t), &s))
	b := s.Predicate.BuildDefinition
	if s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://slsa.dev/provenance/v1" || b.ExternalParameters["version"] != testVersion ||
		b.ResolvedDependencies[0].Digest["gitCommit"] != r.commit {
		t.Errorf("the statement is %+v", s)
	}
	var got, want []string
	for _, subject := range s.Subject {
		got = append(got, subject.Digest["sha256"]+" "+subject.Name)
	}
	must.Succeed(t, r.eachSum(func(name, digest string) {
		if name != "provenance.intoto.json" && name != "SHA256SUMS" {
			want = append(want, digest+" "+name)
		}
	}))
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFormula checks that the Homebrew formula contains the URL and checksum of each archive.
func TestFormula(t *testing.T) {
	t.Parallel()
	r := must.Get(built())(t)
	text := string(must.Get(os.ReadFile(filepath.Join(r.out, "troupe.rb")))(t))
	got := regexp.MustCompile(`url "([^"]+)"\n\s+sha256 "(\w+)"`).FindAllStringSubmatch(text, -1)
	path := r.named(testPlatform, ".tar.gz")
	if len(got) != 1 || got[0][1] != homepage+"/releases/download/v0.3.0/"+filepath.Base(path) || got[0][2] != must.Get(sum(path))(t) {
		t.Errorf("the formula has %q", got)
	}
}

// TestSign verifies the signatures of the checksums with openssl.
func TestSign(t *testing.T) {
	t.Parallel()
	need(t, "openssl")
	for algorithm, more := range map[string][]string{"ed25519": nil, "EC": {"-digest", "sha256"}} {
		dir := t.TempDir()
		key, public := filepath.Join(dir, "key"), filepath.Join(dir, "public")
		generate := []string{"genpkey", "-algorithm", algorithm, "-out", key}
		if algorithm == "EC" {
			generate = append(generate, "-pkeyopt", "ec_paramgen_curve:P-256")
		}
		outputOf(t, "openssl", generate...)
		outputOf(t, "openssl", "pkey", "-in", key, "-pubout", "-out", public)
		r := &release{options: options{out: filepath.Join(dir, "dist")}}
		r.signer, r.hash, _ = readKey(key)
		must.Succeed(t, os.Mkdir(r.out, 0o700))
		must.Succeed(t, os.WriteFile(filepath.Join(r.out, "file"), []byte("content"), 0o600))
		must.Succeed(t, r.sign())
		sums := filepath.Join(r.out, "SHA256SUMS")
		verify := append([]string{"pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin", "-in", sums, "-sigfile", sums + ".sig"}, more...)
		if out := outputOf(t, "openssl", verify...); !strings.Contains(out, "Signature Verified Successfully") {
			t.Errorf("%s: %s", algorithm, out)
		}
		must.Succeed(t, os.WriteFile(sums, []byte("changed"), 0o600))
		if out, err := exec.CommandContext(t.Context(), "openssl", verify...).CombinedOutput(); err == nil {
			t.Errorf("%s: changed checksums are verified: %s", algorithm, out)
		}
	}
}

// TestOptions checks the errors for invalid flags.
func TestOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "key"), []byte("no key"), 0o600))
	for _, test := range []struct {
		options options
		want    string
	}{
		{options{out: filepath.Join(dir, "x")}, "-version: "},
		{options{version: "v0.3.0", out: filepath.Join(dir, "x")}, `-version: "v0.3.0": must be a semantic version`},
		{options{version: "0.3.0"}, "-out: must name a directory"},
		{options{version: "0.3.0", out: dir}, "is not empty; remove it"},
		{options{version: "0.3.0", out: filepath.Join(dir, "x"), key: filepath.Join(dir, "key")}, "must be a PEM file"},
	} {
		if _, err := newRelease(t.Context(), ".", "HEAD", test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %s", test.options, err, test.want)
		}
	}
	if _, err := parsePlatforms("linux/amd64,linux/386"); err == nil || !strings.Contains(err.Error(), `"linux/386": must be one of [linux/amd64`) {
		t.Errorf("-platforms linux/386: %v", err)
	}
}

type server struct {
	*exec.Cmd
	url string
}

// start starts a command that runs troupe serve and waits until it is ready.
func start(t *testing.T, c *exec.Cmd) *server {
	t.Helper()
	c.Stderr = t.Output()
	out := must.Get(c.StdoutPipe())(t)
	must.Succeed(t, c.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`^troupe ready: (https://\S+) `).FindStringSubmatch(line)
	if m == nil {
		_ = c.Process.Kill()
		t.Fatalf("the server printed %q, %v, %v", line, err, c.Wait())
	}
	return &server{c, m[1]}
}

func (s *server) stop(t *testing.T) {
	t.Helper()
	must.Succeed(t, s.Process.Signal(os.Interrupt))
	if err := s.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
