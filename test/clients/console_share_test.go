//go:build chromium && share

package clients

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/troupe-api/troupe/test/client"
)

// ofConsole matches the functions that serve metrics and tables, which only the console requests
// under the mixed load.
const ofConsole = `http\.\(\*Server\)\.writeMetrics|represent\.\(\*Events\)\.appendTable|present\.\(\*TableWriter\)|represent\.\(\*Encoder\)\.tableList`

// TestShare measures the server CPU time for two consoles, as a share of the total, under the mixed
// load of the bench. One console shows the overview, the other a live table of all writes. The
// share comes from the server's CPU profile, so other processes do not affect it. docs/console.md
// contains the result.
func TestShare(t *testing.T) {
	dir := t.TempDir()
	troupe, err := client.BuildTroupe(dir)
	if err != nil {
		t.Fatal(err)
	}
	bench := filepath.Join(dir, "bench")
	build := exec.Command("go", "build", "-o", bench, "./bench")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	tokens := filepath.Join(dir, "tokens.csv")
	client.WriteFile(t, tokens, adminToken+",alice,1,system:masters\n")
	server := exec.Command(troupe, "serve", "--data-dir", filepath.Join(dir, "data"), "--bind-address", "127.0.0.1", "--secure-port", port, "--console", "--profiling", "--token-auth-file", tokens)
	kubeconfig := client.StartDaemon(t, server).Kubeconfig
	c, err := client.New(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}

	overview, table := openBrowser(t, address), openBrowser(t, address)
	var looks, received atomic.Int64 // metrics requests, and bytes of the table
	chromedp.ListenTarget(overview.ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok && strings.HasSuffix(e.Request.URL, "/metrics") {
			looks.Add(1)
		}
	})
	chromedp.ListenTarget(table.ctx, func(event any) {
		if e, ok := event.(*network.EventDataReceived); ok {
			received.Add(e.DataLength)
		}
	})
	for _, b := range []*browser{overview, table} {
		s := &consoleSite{browser: b, Session: client.Session{Server: &client.Server{Client: c}, Ctx: t.Context(), T: t}}
		s.signIn(adminToken)
		s.see("Requests by verb")
	}
	table.open("https://" + address + "/console/#/objects/-/configmaps")
	table.see("live")

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	load := exec.CommandContext(ctx, bench, "--kubeconfig", kubeconfig, "--pid", strconv.Itoa(server.Process.Pid), "--workloads", "mixed", "--scale", "0.1", "--duration", "60s", "--count", "100000000", "--floor=false", "--temp-dir", dir)
	var said bytes.Buffer
	load.Stdout, load.Stderr = &said, &said
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	client.Eventually(t, func() error { // wait for the load
		answer, err := c.Get(ctx, "/metrics")
		if err == nil && !regexp.MustCompile(`(?m)^troupe_watch_events_total \d{4,}$`).Match(answer.Body) {
			err = fmt.Errorf("no load yet")
		}
		return err
	})
	looksBefore, receivedBefore := looks.Load(), received.Load()
	answer, err := c.Get(ctx, "/debug/pprof/profile?seconds=30") // half of the load's duration
	if err != nil || answer.Code != 200 {
		t.Fatal(answer, err)
	}
	profile := filepath.Join(dir, "profile")
	client.WriteFile(t, profile, answer.Body)
	looked, got := looks.Load()-looksBefore, received.Load()-receivedBefore
	table.see("live") // still live, without an error
	if fault := table.text(`document.querySelector("[role=alert]")?.textContent ?? ""`); fault != "" {
		t.Errorf("the table has %s", fault)
	}
	table.wait("the table shows what changes", `document.querySelectorAll("tr.changed").length > 0`)
	if looked < 5 || got < 100_000 {
		t.Errorf("%d requests for metrics, %d bytes of the table: the load was not shown", looked, got)
	}
	if err := load.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	top, err := exec.Command("go", "tool", "pprof", "-top", "-cum", "-nodecount", "100000", "-nodefraction", "0", "-focus", ofConsole, profile).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, top)
	}
	m := regexp.MustCompile(`Showing nodes accounting for (\S+), (\S+)% of (\S+) total`).FindSubmatch(top)
	if m == nil {
		t.Fatalf("no share in\n%s", top)
	}
	t.Logf("%s\nconsole: %s of %s of CPU time, %s %%, for %d requests for metrics and %d bytes of live table", said.String(), m[1], m[3], m[2], looked, got)
	if share, err := strconv.ParseFloat(string(m[2]), 64); err != nil || share > 1 {
		t.Errorf("the console takes %s of %s of CPU time, %s %%: more than 1 %%", m[1], m[3], m[2])
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
