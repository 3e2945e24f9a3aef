package storage

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

var soak = os.Getenv("TROUPE_SOAK") != ""

const mebibyte = 1 << 20

// tableForm is the Accept header with which kubectl requests a list.
const tableForm = "application/json;as=Table;g=meta.platform.io;v=v1"

// A listForm is one way to request a list.
type listForm struct{ name, path, accept string }

func listForms(path string) []listForm {
	const protobuf, partial = "application/vnd.platform.protobuf", ";as=PartialObjectMetadataList;g=meta.platform.io;v=v1"
	return []listForm{
		{"JSON", path, "application/json"},
		{"pretty", path + "?pretty=true", "application/json"},
		{"YAML", path, "application/yaml"},
		{"Protobuf", path, protobuf},
		{"Table", path, tableForm},
		{"Table of objects", path + "?includeObject=Object&pretty=true", tableForm},
		{"Table in YAML", path, strings.Replace(tableForm, "json", "yaml", 1)},
		{"metadata", path, "application/json" + partial},
		{"metadata in YAML", path, "application/yaml" + partial},
		{"metadata in Protobuf", path, protobuf + partial},
	}
}

const widgetsPath = "/apis/example.com/v1/namespaces/default/widgets"

// widget is a CRD with two versions that preserve unknown fields.
const widget = `{"apiVersion":"apiextensions.platform.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-platform-preserve-unknown-fields":true}}},
{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-platform-preserve-unknown-fields":true}}}]}}`

// TestListMemory checks that lists of any format, kind and version are streamed from stored
// objects, so that memory stays bounded with many concurrent clients.
func TestListMemory(t *testing.T) {
	const clients = 20
	objects, lines, limit, bound := 300, 150, 96*mebibyte, 160*mebibyte
	if soak {
		objects, lines, limit, bound = 50_000, 30, 170*mebibyte, 256*mebibyte
	}
	// The process may exceed its memory limit, because of the binary's pages and because a busy
	// machine collects garbage late. The bound allows for both, but not for twenty buffered lists
	// of 5 MiB each. Requests that do not fit get Retry-After.
	t.Setenv("GOMEMLIMIT", strconv.Itoa(limit))
	p := serveProcess(t, t.TempDir(), "--max-requests-inflight=100")
	c := p.caller()
	c.must(t, 201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", widget)
	eventually(t, "the custom kind is served", func() bool {
		code, _, err := c.do("GET", widgetsPath, "")
		return err == nil && code == 200
	})
	data := strings.Repeat("a line of text, as configuration is\n", lines)
	c.fill(t, configMaps, objects, func(n int) string {
		return fmt.Sprintf(`{"metadata":{"name":"m%06d"},"data":{"text":%q}}`, n, data)
	})
	forms := listForms(configMaps)
	if !soak { // a single set of lists fills the process
		c.fill(t, widgetsPath, objects, func(n int) string {
			return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"m%06d"},"spec":{"text":%q}}`, n, data)
		})
		converted := strings.Replace(widgetsPath, "v1", "v2", 1)
		forms = append(forms, listForm{"custom", widgetsPath, "application/json"},
			listForm{"custom Table", widgetsPath, tableForm}, listForm{"custom in YAML", widgetsPath, "application/yaml"},
			listForm{"converted", converted, "application/json"}, listForm{"converted Table", converted, tableForm})
	}
	for _, f := range forms {
		p.resetPeak()
		var asked sync.WaitGroup
		for range clients {
			asked.Go(func() { c.readBeginning(t, f) })
		}
		asked.Wait()
		peak := p.memory("VmHWM")
		client.Figures(t, "%d clients list as %s: peak %d MiB", clients, f.name, peak/mebibyte)
		if soak && peak > bound {
			t.Errorf("%s: %d clients took the process to %d MiB, more than %d MiB", f.name, clients, peak/mebibyte, bound/mebibyte)
		}
	}
}

func (c caller) fill(t *testing.T, path string, objects int, body func(n int) string) {
	t.Helper()
	var makers sync.WaitGroup
	next := make(chan int)
	for range 32 {
		makers.Go(func() {
			for n := range next {
				code, text, err := c.do("POST", path, body(n))
				client.Poll(func() bool { // retry while the server is short of memory
					if code == 429 {
						code, text, err = c.do("POST", path, body(n))
					}
					return code != 429
				})
				if code != 201 {
					t.Errorf("create: %d, %v: %.300s", code, err, text)
				}
			}
		})
	}
	for n := range objects {
		next <- n
	}
	close(next)
	makers.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// readBeginning reads only the beginning of a list, to save time. A buffered list would use all of
// its memory before the first byte arrives.
func (c caller) readBeginning(t *testing.T, f listForm) {
	most := int64(mebibyte / 2)
	if strings.Contains(f.name, "YAML") { // YAML is slow to encode
		most = 64 << 10
	}
	r, err := http.NewRequest("GET", c.url+f.path, nil)
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Accept", f.accept)
	if strings.Contains(f.name, "YAML") {
		r.Header.Set("Accept-Encoding", "identity") // with compression, the beginning would be most of the list
	}
	answer, err := c.http.Do(r)
	client.Poll(func() bool { // retry while the server is short of memory
		if err == nil && answer.StatusCode == 429 {
			_ = answer.Body.Close()
			answer, err = c.http.Do(r)
		}
		return err != nil || answer.StatusCode != 429
	})
	if err != nil {
		t.Errorf("%s: %v", f.name, err)
		return
	}
	defer answer.Body.Close()
	n, err := io.CopyN(io.Discard, answer.Body, most)
	if answer.StatusCode != 200 || err != nil && err != io.EOF || n < 1000 {
		t.Errorf("%s: %d, %d bytes, %v", f.name, answer.StatusCode, n, err)
	}
}

// memory returns a field of /proc/PID/status in bytes.
func (p *daemonProcess) memory(line string) int {
	p.t.Helper()
	status := client.ReadFile(p.t, fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	found := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		p.t.Fatalf("no %s in\n%s", line, status)
	}
	n := must.Get(strconv.Atoi(string(found[1])))(p.t)
	return n << 10
}

// resetPeak resets VmHWM to the current memory use of the process.
func (p *daemonProcess) resetPeak() {
	p.t.Helper()
	client.WriteFile(p.t, fmt.Sprintf("/proc/%d/clear_refs", p.Cmd.Process.Pid), "5")
}

// TestStalledReaders checks that a client that does not read a large list costs only a few buffers.
// If large items need conversion, some requests get Retry-After. The administrator is still served.
func TestStalledReaders(t *testing.T) {
	objects, readers, bound := 24, 20, 384*mebibyte
	if soak {
		objects, readers, bound = 200, 100, 512*mebibyte
	}
	t.Setenv("GOMEMLIMIT", strconv.Itoa(bound*3/4))
	p := serveProcess(t, t.TempDir())
	c := p.caller()
	data := `"` + strings.Repeat("x", 512<<10) + `"`
	c.fill(t, configMaps, objects, func(n int) string {
		return fmt.Sprintf(`{"metadata":{"name":"m%06d"},"data":{"text":%s}}`, n, data)
	})
	p.resetPeak()
	forms := listForms(configMaps)
	if !soak { // an item of this size takes seconds as YAML
		forms = slices.DeleteFunc(forms, func(f listForm) bool { return f.name == "YAML" })
	}
	for _, f := range forms {
		var asked sync.WaitGroup
		var stalled []net.Conn
		served := 0
		var mu sync.Mutex
		for range readers {
			asked.Go(func() {
				conn, refused := p.openStalledList(f)
				mu.Lock()
				defer mu.Unlock()
				stalled = append(stalled, conn)
				if !refused {
					served++
				}
			})
		}
		asked.Wait()
		if t.Failed() || served == 0 {
			t.Fatalf("%s: %d readers are served", f.name, served)
		}
		begun := time.Now()
		c.must(t, 200, "GET", configMaps+"/m000001", "")
		client.Figures(t, "readers that stall, %s: %d served, peak %d MiB, a get took %v", f.name, served, p.memory("VmHWM")/mebibyte, time.Since(begun))
		for _, conn := range stalled {
			_ = conn.Close()
		}
		if peak := p.memory("VmHWM"); soak && peak > bound {
			t.Fatalf("%s: %d readers that stall took the process to %d MiB, more than %d MiB", f.name, readers, peak/mebibyte, bound/mebibyte)
		}
	}
}

// openStalledList requests a list and stops reading after the status line. refused reports whether
// the status is 429.
func (p *daemonProcess) openStalledList(f listForm) (conn net.Conn, refused bool) {
	raw, err := net.Dial("tcp", strings.TrimPrefix(p.URL, "https://"))
	if err != nil {
		p.t.Error(err)
		return nil, false
	}
	if err := raw.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
		p.t.Error(err)
	}
	config := adminTLS(p.t, p.dir)
	config.ServerName = "localhost"
	conn = tls.Client(raw, config)
	_ = conn.SetDeadline(time.Now().Add(client.Watchdog))
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n\r\n", f.path, f.accept); err != nil {
		p.t.Error(err)
	}
	buf := make([]byte, 13)
	if _, err := io.ReadFull(conn, buf); err != nil {
		p.t.Errorf("%s: %v", f.name, err)
	}
	switch string(buf) {
	case "HTTP/1.1 200 ":
	case "HTTP/1.1 429 ":
		return conn, true
	default:
		p.t.Errorf("%s: %q", f.name, buf)
	}
	return conn, false
}
