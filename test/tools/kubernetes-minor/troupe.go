package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// newTroupe starts a server with all API versions and feature gates on, and returns its inventory.
func newTroupe(ctx context.Context, dir string) (i inventory, err error) {
	config := daemon.Default()
	config.DataDir, config.Naming, config.Serving.SecurePort = dir, "kubernetes", 0
	config.Ephemeral, config.Kubeconfig = true, filepath.Join(dir, "kubeconfig")
	config.API.RuntimeConfig["api/all"] = true
	if err := config.API.FeatureGates.Set("AllAlpha=true,AllBeta=true"); err != nil {
		return nil, err
	}
	d, err := daemon.New(config, io.Discard)
	if err == nil {
		err = d.Start()
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Stop(ctx)) }()
	c, err := client.New(config.Kubeconfig)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	i = inventory{}
	if err := i.readServer(ctx, c); err != nil {
		return nil, err
	}
	for _, group := range config.Flags() {
		group.Flags.VisitAll(func(f *pflag.Flag) { i.add("flags", f.Name, "") })
	}
	return i, i.readSources()
}

func (i inventory) readServer(ctx context.Context, c *client.Client) error {
	get := func(path string, add func([]byte) error) error {
		answer, err := c.Get(ctx, path)
		if err == nil && answer.Code != 200 {
			err = &answer
		}
		if err == nil {
			err = add(answer.Body)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	var index struct{ Paths map[string]any }
	if err := get("/openapi/v3", func(text []byte) error { return yaml.Unmarshal(text, &index) }); err != nil {
		return err
	}
	for path := range index.Paths {
		err := get("/openapi/v3/"+path, i.addOpenAPI)
		if err == nil && groupVersion.MatchString(path) {
			err = get("/"+path, i.addResources)
		}
		if err != nil {
			return err
		}
	}
	for _, kind := range []string{"clusterrolebindings", "clusterroles", "rolebindings", "roles"} {
		if err := get("/apis/rbac.authorization.k8s.io/v1/"+kind, i.addRoles); err != nil {
			return err
		}
	}
	return nil
}

var (
	groupVersion = regexp.MustCompile(`^(api|apis/[^/]+)/v[^/]+$`)
	literal      = regexp.MustCompile(`"([a-z_]+)"`)
)

// readSources adds the lists that Troupe keeps in files: gates, admission plugins and metrics.
func (i inventory) readSources() error {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return fmt.Errorf("find the root of the sources: %w", err)
	}
	root := strings.TrimSpace(string(out))
	gates, err := os.ReadFile(filepath.Join(root, "cmd/troupe/internal/features/gates.txt"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(gates)) {
		words := strings.Fields(line)
		for _, word := range words[1:] {
			i.add("gates", words[0], word)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "policy/admission/plugins.yaml"))
	if err != nil {
		return err
	}
	var plugins []struct {
		Name    string
		Default bool
	}
	if err := yaml.Unmarshal(text, &plugins); err != nil {
		return err
	}
	for _, p := range plugins {
		i.add("plugins", p.Name, onOff[p.Default])
	}
	return filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join(root, "test"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		i.addMetrics(text)
		return err
	})
}

// addMetrics adds the metric names in a Go file. Some are joined from two literals.
func (i inventory) addMetrics(text []byte) {
	names := map[string]bool{}
	for _, m := range literal.FindAllSubmatch(text, -1) {
		names[string(m[1])] = true
	}
	for name := range names {
		i.add("metrics", name, "")
		for other := range names {
			if strings.HasSuffix(name, "_") || strings.HasPrefix(other, "_") {
				i.add("metrics", name+other, "")
			}
		}
	}
}
