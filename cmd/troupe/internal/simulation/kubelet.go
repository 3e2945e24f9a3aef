package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// handler serves the kubelet API of all nodes. The Pod in the path determines the node.
func (c *Cluster) handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	m.HandleFunc("GET /pods", c.servePods)
	m.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", c.withContainer(c.serveLogs))
	for _, method := range []string{"GET", "POST"} {
		m.HandleFunc(method+" /exec/{namespace}/{pod}/{container}", c.withContainer(c.serveExec))
		m.HandleFunc(method+" /attach/{namespace}/{pod}/{container}", c.withContainer(c.serveAttach))
		m.HandleFunc(method+" /portForward/{namespace}/{pod}", c.servePorts)
	}
	return m
}

// servePods lists the Pods of all nodes, with only the fields that the simulation reads.
func (c *Cluster) servePods(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "PodList", "apiVersion": "v1", "items": c.allPods()}) // the client may be gone
}

type containerRef struct {
	*Container
	pod    *Pod
	status *ContainerStatus
}

// withContainer returns a handler that calls serve with the requested container. It responds with
// an error if the container does not exist or its node is down.
func (c *Cluster) withContainer(serve func(http.ResponseWriter, *http.Request, containerRef)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, name := objectKey{namespace: r.PathValue("namespace"), name: r.PathValue("pod")}, r.PathValue("container")
		record, found := c.pod(key)
		if !found {
			http.Error(w, fmt.Sprintf("pod %q not found", key), http.StatusNotFound)
			return
		}
		if c.isDown(record.pod.Spec.NodeName) {
			http.Error(w, fmt.Sprintf("node %s is down", record.pod.Spec.NodeName), http.StatusServiceUnavailable)
			return
		}
		container, status := record.pod.container(name)
		if container == nil || status == nil {
			http.Error(w, fmt.Sprintf("container %q in pod %q is not available", name, key.name), http.StatusBadRequest)
			return
		}
		serve(w, r, containerRef{container, record.pod, status})
	}
}

type logLine struct {
	at   time.Time
	text string
}

// logOf returns the log of a container's current or previous run, which is the output of the
// simulated program. While the container waits for a restart, the last run is the current one. All
// timestamps are the start of the run.
func (c *Cluster) logOf(of containerRef, previous bool) (lines []logLine, ok bool) {
	state := of.status.State
	if previous || state.Running == nil && state.Terminated == nil {
		state = of.status.LastState
	}
	var begin time.Time
	switch {
	case state.Running != nil:
		begin = state.Running.StartedAt
	case state.Terminated != nil:
		begin = state.Terminated.StartedAt
	default:
		return nil, false
	}
	for _, text := range programOf(of.pod, of.Container, c.JobTime).lines {
		lines = append(lines, logLine{begin, text})
	}
	return lines, true
}

// followPeriod is the interval at which a follow request checks whether the container has ended.
const followPeriod = 500 * time.Millisecond

func (c *Cluster) serveLogs(w http.ResponseWriter, r *http.Request, of containerRef) {
	query := r.URL.Query()
	previous := query.Get("previous") == "true"
	lines, ok := c.logOf(of, previous)
	if !ok {
		message := fmt.Sprintf("previous terminated container %q in pod %q not found", of.Name, of.pod.Metadata.Name)
		if waiting := of.status.State.Waiting; !previous && waiting != nil {
			message = fmt.Sprintf("container %q in pod %q is waiting to start: %s", of.Name, of.pod.Metadata.Name, waiting.Reason)
		}
		http.Error(w, message, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, logWindow(lines, query.Get, time.Now())) // the client may be gone
	if query.Get("follow") == "true" && !previous {
		_ = http.NewResponseController(w).Flush()
		c.awaitEnd(r.Context(), of)
	}
}

// logWindow returns the part of a log that the query parameters select.
func logWindow(lines []logLine, ask func(string) string, now time.Time) string {
	if seconds, err := strconv.Atoi(ask("sinceSeconds")); err == nil {
		lines = since(lines, now.Add(-time.Duration(seconds)*time.Second))
	}
	if t, err := time.Parse(time.RFC3339, ask("sinceTime")); err == nil {
		lines = since(lines, t)
	}
	if n, err := strconv.Atoi(ask("tailLines")); err == nil && n < len(lines) {
		lines = lines[len(lines)-max(n, 0):]
	}
	var text strings.Builder
	for _, line := range lines {
		if ask("timestamps") == "true" {
			text.WriteString(line.at.Format(time.RFC3339Nano) + " ")
		}
		text.WriteString(line.text + "\n")
	}
	if n, err := strconv.Atoi(ask("limitBytes")); err == nil && n < text.Len() {
		return text.String()[:max(n, 0)]
	}
	return text.String()
}

func since(lines []logLine, t time.Time) (later []logLine) {
	for _, line := range lines {
		if !line.at.Before(t) {
			later = append(later, line)
		}
	}
	return later
}

func (c *Cluster) awaitEnd(ctx context.Context, of containerRef) {
	ticker := time.NewTicker(followPeriod)
	defer ticker.Stop()
	for {
		now, ok := c.pod(of.pod.key())
		if !ok || now.pod.Metadata.UID != of.pod.Metadata.UID {
			return
		}
		if _, s := now.pod.container(of.Name); s == nil || s.State.Running == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (c *Cluster) serveExec(w http.ResponseWriter, r *http.Request, of containerRef) {
	if of.status.State.Running == nil {
		http.Error(w, fmt.Sprintf("container %q in pod %q does not run", of.Name, of.pod.Metadata.Name), http.StatusInternalServerError)
		return
	}
	query := r.URL.Query()
	serveStreams(w, r, wantedStreams(query), func(s *session) int { return s.play(query["command"], environment(of.pod, of.Container)) })
}

func (c *Cluster) serveAttach(w http.ResponseWriter, r *http.Request, of containerRef) {
	lines, _ := c.logOf(of, false)
	serveStreams(w, r, wantedStreams(r.URL.Query()), func(s *session) int {
		for _, line := range lines {
			s.write(s.stdout, line.text+"\n")
		}
		c.awaitEnd(s.ctx, of)
		return 0
	})
}
