package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

const (
	forkCount       = 100
	forkObjects     = 1000
	validateObjects = 1000
)

// forks measures forks of an ephemeral server: the time until they serve, and their memory before
// the first write. The server runs in this process, and so has the version of this program.
func forks(ctx context.Context, s *Session) (results []Result, err error) {
	dir, remove, err := dataDir(s.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	objects := s.scaledSize("fork: objects", forkObjects)
	_, err = s.fillStore(ctx, dir, objects, (*Server).stop, func(f *fixture) error { return f.fill(ctx, objects, step(f.create)) })
	if err != nil {
		return nil, err
	}
	config := daemon.Default()
	config.Naming, config.Ephemeral, config.From, config.Serving.SecurePort = s.Naming, true, dir, 0
	config.Controllers = daemon.TestControllers // as in troupetest
	var running []*daemon.Daemon
	defer func() {
		for _, d := range slices.Backward(running) {
			err = errors.Join(err, d.Stop(context.WithoutCancel(ctx)))
		}
	}()
	start := func(d *daemon.Daemon, err error) error {
		if err == nil {
			err = d.Start()
		}
		if err == nil {
			running = append(running, d)
		}
		return err
	}
	if err := start(daemon.New(config, io.Discard)); err != nil {
		return nil, err
	}
	self := []int{os.Getpid()}
	idle, err := readUsage(self)
	if err != nil {
		return nil, err
	}
	sample, heap := &Sample{}, heapBytes()
	for range s.scaledSize("fork: forks", forkCount) {
		began := time.Now()
		if err := errors.Join(start(running[0].Fork(config, io.Discard)), ctx.Err()); err != nil {
			return nil, err
		}
		sample.record(time.Since(began), 0)
	}
	slices.Sort(sample.Latencies)
	used, err := readUsage(self)
	sample.CPU = used.CPU - idle.CPU
	memory := mebibytes(heapBytes()-heap) / float64(sample.Operations)
	return []Result{
		{Sample: sample, Figure: milliseconds(sample.percentile(50))},
		{Name: ", memory", Figure: &Figure{Value: memory, Unit: "MiB"}},
	}, err
}

// heapBytes returns the bytes of live objects and stacks in this process.
func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// validate measures troupe validate with a folder of manifests.
func validate(ctx context.Context, s *Session) ([]Result, error) {
	dir, remove, err := dataDir(s.TempDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	objects := s.scaledSize("validate: objects", validateObjects)
	if err := writeManifests(dir, objects); err != nil {
		return nil, err
	}
	sample := &Sample{}
	for range emptyStarts {
		program := exec.CommandContext(ctx, s.Binary, "validate", dir)
		began := time.Now()
		if text, err := program.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
		sample.record(time.Since(began), 0)
		sample.CPU += program.ProcessState.UserTime() + program.ProcessState.SystemTime()
	}
	slices.Sort(sample.Latencies)
	return []Result{{Sample: sample, Figure: milliseconds(sample.percentile(50))}}, nil
}

// writeManifests writes Deployments with a Service and a ConfigMap each, in one file per three
// objects.
func writeManifests(dir string, objects int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for n := range (objects + 2) / 3 {
		text := fmt.Appendf(nil, `apiVersion: apps/v1
kind: Deployment
metadata: {name: app-%[1]d, labels: {app: app-%[1]d}}
spec:
  replicas: 3
  selector: {matchLabels: {app: app-%[1]d}}
  template:
    metadata: {labels: {app: app-%[1]d}}
    spec:
      containers:
      - name: main
        image: registry.example.com/app:1.%[1]d
        ports: [{name: http, containerPort: 8080}]
        envFrom: [{configMapRef: {name: app-%[1]d}}]
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
        readinessProbe: {httpGet: {path: /healthz, port: http}}
---
apiVersion: v1
kind: Service
metadata: {name: app-%[1]d}
spec: {selector: {app: app-%[1]d}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: app-%[1]d}
data: {LOG_LEVEL: info}
`, n)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("app-%d.yaml", n)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
