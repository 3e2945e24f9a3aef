package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

func main() {
	binary := flag.String("binary", "", "The binary of the release.")
	name := flag.String("as", "", "What the fixture is called.")
	flag.Parse()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := record(ctx, *binary, filepath.Join("tools", "releases", "testdata", *name+".tar.gz")); err != nil {
		fmt.Fprintln(os.Stderr, "releases:", err)
		os.Exit(1)
	}
}

// settings is a configuration that every release supports. The small journal limit makes the first
// run write a snapshot.
const settings = "naming: kubernetes\nserving: {securePort: 0}\nsnapshots: {journalBytes: 1Mi}\n"

// record runs a release twice and packs its data directory into the archive.
func record(ctx context.Context, binary, archive string) (err error) {
	dir, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w := &writer{snapshots: filepath.Join(dir, dataDir, "snapshots"), recorded: recorded{Objects: map[string]json.RawMessage{}}}
	for _, life := range []func(context.Context) error{w.first, w.second} {
		p, err := start(ctx, binary, dir)
		if err != nil {
			return err
		}
		w.Client = p.client
		fault := life(ctx)
		end := os.Signal(os.Kill)
		if w.lives++; w.lives == 1 {
			end = syscall.SIGTERM
		}
		if err := errors.Join(fault, p.command.Process.Signal(end)); err != nil {
			return err
		}
		_ = p.command.Wait() // the kill is expected
	}
	text, err := json.MarshalIndent(w.recorded, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, recordedFile), text, 0o600)
	}
	if err == nil {
		err = pack(dir, archive)
	}
	return err
}

type process struct {
	command *exec.Cmd
	client  *client.Client
}

var readyLine = regexp.MustCompile(`KUBECONFIG=(\S+)`)

func start(ctx context.Context, binary, dir string) (*process, error) {
	config := filepath.Join(dir, "troupe.yaml")
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, binary, "serve", "--config", config, "--data-dir", filepath.Join(dir, dataDir))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	m := readyLine.FindStringSubmatch(line)
	if m == nil {
		return nil, fmt.Errorf("it said %q, %w", line, err)
	}
	p := &process{command: c}
	p.client, err = client.New(m[1])
	return p, err
}
