package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/audit"
)

func record(u *audit.Auditor, id string) bool {
	a := request("jane", nil, "get /x")
	r := u.Begin(&a, start)
	defer r.Release()
	r.ID = id
	return r.EmitStage(audit.RequestReceived, 0) && r.EmitStage(audit.ResponseComplete, 200)
}

const onlyComplete = "rules: [{level: Metadata, omitStages: [RequestReceived]}]"

func ids(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(line, `"auditID":"`)
		id, _, _ := strings.Cut(rest, `"`)
		list = append(list, id)
	}
	return strings.Join(list, " ")
}

type writeLog struct{ list chan string }

func (w *writeLog) Write(b []byte) (int, error) {
	w.list <- ids(string(b))
	return len(b), nil
}

func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writeLog{make(chan string, 10)}
		u := audit.New(mustParse(t, onlyComplete), meta.Platform, time.Now, audit.NewLog(w, audit.SinkOptions{
			Mode: audit.Batch, Logger: discardLogger(), Batch: audit.BatchOptions{BufferSize: 100, MaxSize: 3, MaxWait: time.Minute},
		}))
		expect := func(after time.Duration, want string) {
			t.Helper()
			began := time.Now()
			if got := <-w.list; got != want || time.Since(began) != after {
				t.Errorf("%q after %v, want %q after %v", got, time.Since(began), want, after)
			}
		}
		record(u, "a")
		expect(time.Minute, "a") // sent after the maximum wait
		for _, id := range []string{"b", "c", "d", "e"} {
			record(u, id)
		}
		expect(0, "b c d") // a full batch is sent at once
		expect(time.Minute, "e")
		record(u, "f")
		closing := time.Now()
		if err := u.Close(context.Background()); err != nil || time.Since(closing) != 0 {
			t.Errorf("closing took %v: %v", time.Since(closing), err)
		}
		expect(0, "f") // waiting events are written on close
		if record(u, "g"); len(w.list) != 0 {
			t.Error("an event was stored after the end")
		}
	})
}

func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writeLog{make(chan string, 10)}
		u := audit.New(mustParse(t, onlyComplete), meta.Platform, time.Now, audit.NewLog(w, audit.SinkOptions{
			Mode: audit.Batch, Logger: discardLogger(), Batch: audit.BatchOptions{BufferSize: 100, MaxSize: 1, ThrottleQPS: 0.5, ThrottleBurst: 2},
		}))
		began := time.Now()
		for n := range 4 {
			record(u, fmt.Sprint(n))
		}
		for n, want := range []time.Duration{0, 0, 2 * time.Second, 4 * time.Second} {
			if got := <-w.list; got != fmt.Sprint(n) || time.Since(began) != want {
				t.Errorf("%s after %v, want %d after %v", got, time.Since(began), n, want)
			}
		}
		if err := u.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestFullBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writeLog{make(chan string)} // nothing reads yet
		var logged bytes.Buffer
		u := audit.New(mustParse(t, onlyComplete), meta.Platform, time.Now, audit.NewLog(w, audit.SinkOptions{
			Mode: audit.Batch, Logger: slog.New(slog.NewTextHandler(&logged, nil)), Batch: audit.BatchOptions{BufferSize: 2, MaxSize: 1},
		}))
		for n := range 10 {
			if !record(u, fmt.Sprint(n)) {
				t.Error("a request was refused")
			}
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := u.Close(ctx); err == nil || !strings.Contains(err.Error(), "not stored in time") {
			t.Errorf("close: %v", err)
		}
		var metrics bytes.Buffer
		u.WriteMetrics(&metrics)
		// Of the ten events, one is being written, one is in the next batch, and two are queued.
		if !strings.Contains(metrics.String(), `apiserver_audit_error_total{plugin="log"} 6`) {
			t.Error(metrics.String())
		}
		if n := strings.Count(logged.String(), "events are being lost"); n != 1 {
			t.Errorf("the loss is logged %d times: %s", n, logged.String())
		}
		for range 4 {
			<-w.list
		}
	})
}

func TestBlockingModes(t *testing.T) {
	for _, mode := range []audit.Mode{audit.Blocking, audit.BlockingStrict} {
		var b buffer
		var logged bytes.Buffer
		u := audit.New(mustParse(t, "rules: [{level: Metadata}]"), meta.Platform, steppingClock(), audit.NewLog(&b, audit.SinkOptions{
			Mode: mode, Logger: slog.New(slog.NewTextHandler(&logged, nil)),
		}))
		if !record(u, "a") {
			t.Errorf("%s: refused", mode)
		}
		b.failing(errors.New("disk full"))
		if got := record(u, "b"); got != (mode == audit.Blocking) {
			t.Errorf("%s: goes on: %t", mode, got)
		}
		b.failing(nil)
		if !record(u, "c") {
			t.Errorf("%s: refused", mode)
		}
		if got := ids(b.String()); got != "a a c c" {
			t.Errorf("%s: %s", mode, got)
		}
		if text := logged.String(); !strings.Contains(text, "disk full") || !strings.Contains(text, "stored again") {
			t.Errorf("%s: %s", mode, text)
		}
		var metrics bytes.Buffer
		u.WriteMetrics(&metrics)
		want := map[audit.Mode]string{audit.Blocking: "apiserver_audit_requests_rejected_total 0\n", audit.BlockingStrict: "apiserver_audit_requests_rejected_total 1\n"}[mode]
		if !strings.Contains(metrics.String(), want) || !strings.Contains(metrics.String(), `apiserver_audit_level_total{level="Metadata"} 3`) {
			t.Errorf("%s: %s", mode, metrics.String())
		}
	}
}
