package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// homepage is the URL of the project, and module is the path of its Go module.
const (
	homepage = "https://" + module
	module   = "github.com/troupe-api/troupe"
)

// A platform is an operating system and architecture, as named by Go.
type platform struct{ os, arch string }

// String returns the platform in a form such as linux/amd64.
func (p platform) String() string { return p.os + "/" + p.arch }

func (p platform) program() string {
	if p.os == "windows" {
		return "troupe.exe"
	}
	return "troupe"
}

type options struct {
	version, out, key string
	platforms         []platform
	reproduce         bool
}

// A release writes the files of one version.
type release struct {
	options
	signer crypto.Signer // nil without a key
	hash   crypto.Hash   // hash for signatures; 0 to sign the message itself
	commit string
	date   time.Time // time of the commit
	work   string    // temporary directory
	source string    // clone of the commit
}

var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

// newRelease clones a commit of the repository in root. The caller must call close.
func newRelease(ctx context.Context, root, commit string, o options) (r *release, err error) {
	if !semver.MatchString(o.version) {
		return nil, fmt.Errorf("-version: %q: must be a semantic version such as 0.3.0 or 0.3.0-rc.1", o.version)
	}
	if o.out == "" {
		return nil, errors.New("-out: must name a directory")
	}
	if entries, err := os.ReadDir(o.out); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("-out: %s is not empty; remove it", o.out)
	}
	if len(o.platforms) == 0 {
		o.platforms = platforms
	}
	r = &release{options: o}
	if o.key != "" {
		if r.signer, r.hash, err = readKey(o.key); err != nil {
			return nil, fmt.Errorf("-key: %s: %w", o.key, err)
		}
	}
	if r.commit, err = git(ctx, root, "rev-parse", commit+"^{commit}"); err != nil {
		return nil, err
	}
	date, err := git(ctx, root, "show", "-s", "--format=%cI", r.commit)
	if err != nil {
		return nil, err
	}
	if r.date, err = time.Parse(time.RFC3339, date); err != nil {
		return nil, err
	}
	r.date = r.date.UTC()
	if r.work, err = os.MkdirTemp("", "troupe-release-"); err != nil {
		return nil, err
	}
	r.source = filepath.Join(r.work, "source")
	if err := r.clone(ctx, root, r.source); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *release) close() error { return os.RemoveAll(r.work) }

// clone checks out the commit in a new directory. It creates only the version's tag, so that the
// version in the build info depends on nothing else.
func (r *release) clone(ctx context.Context, root, dir string) error {
	for _, args := range [][]string{
		{"clone", "--quiet", "--shared", "--no-checkout", "--no-tags", root, dir},
		{"-C", dir, "-c", "advice.detachedHead=false", "checkout", "--quiet", r.commit},
		{"-C", dir, "tag", "v" + r.version, r.commit},
	} {
		if _, err := git(ctx, "", args...); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) write(ctx context.Context) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	notes, err := r.notices(ctx)
	if err != nil {
		return err
	}
	var programs []staged
	for _, p := range r.platforms {
		s, err := r.stage(ctx, p, notes)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		programs = append(programs, s)
	}
	if r.reproduce {
		if err := r.compare(ctx, programs[0]); err != nil {
			return err
		}
	}
	for _, s := range programs {
		if err := errors.Join(r.archive(s), r.bill(s, notes)); err != nil {
			return fmt.Errorf("%s: %w", s.platform, err)
		}
	}
	linux := slices.DeleteFunc(slices.Clone(programs), func(s staged) bool { return s.platform.os != "linux" })
	if len(linux) > 0 {
		if err := r.image(linux); err != nil {
			return fmt.Errorf("image: %w", err)
		}
	}
	for _, s := range linux {
		if err := r.packages(s); err != nil {
			return fmt.Errorf("packages of %s: %w", s.platform, err)
		}
	}
	if err := errors.Join(r.chart(), r.formula()); err != nil {
		return err
	}
	if err := r.provenance(); err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	return r.sign()
}

func (r *release) build(ctx context.Context, source string, p platform, to string, env ...string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-mod=readonly", "-ldflags=-s -w", "-o", to, "./cmd/troupe")
	c.Dir = source
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+p.os, "GOARCH="+p.arch)
	c.Env = append(c.Env, env...)
	_, err := output(c)
	return err
}

// compare rebuilds a program in another directory with an empty cache. It returns an error if the
// result differs.
func (r *release) compare(ctx context.Context, s staged) error {
	source, cache, to := filepath.Join(r.work, "again"), filepath.Join(r.work, "cache"), filepath.Join(r.work, "again-"+s.platform.program())
	if err := r.clone(ctx, r.source, source); err != nil {
		return err
	}
	if err := r.build(ctx, source, s.platform, to, "GOCACHE="+cache); err != nil {
		return err
	}
	first, err := sum(s.file(s.platform.program()))
	if err != nil {
		return err
	}
	second, err := sum(to)
	if err != nil {
		return err
	}
	if first != second {
		return fmt.Errorf("two builds for %s differ: %s and %s", s.platform, first, second)
	}
	return nil
}

func sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// git returns the trimmed output of a git command.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = dir
	out, err := output(c)
	return strings.TrimSpace(string(out)), err
}

// output returns the standard output of a command. Errors contain the command and its standard
// error.
func output(c *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
