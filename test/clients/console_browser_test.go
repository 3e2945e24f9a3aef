//go:build chromium

package clients

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/troupe-api/troupe/test/client"
)

// A browser is one tab of its own Chromium process. The test fails if a page logs an error or
// contacts a forbidden host.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	allowed map[string]bool // hosts
	faults  []string
	excused []string // parts of expected error messages
}

func openBrowser(t *testing.T, hosts ...string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("ignore-certificate-errors", true), chromedp.WindowSize(1280, 900))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	b := &browser{t: t, ctx: ctx, allowed: map[string]bool{}}
	for _, host := range hosts {
		b.allowed[host] = true
	}
	chromedp.ListenTarget(ctx, b.observe)
	if err := chromedp.Run(ctx, network.Enable(), log.Enable()); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.screenshot("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		cancel()
		stop()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, fault := range b.faults {
			t.Error(fault)
		}
	})
	return b
}

func (b *browser) observe(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" && !b.allowed[u.Host] {
			b.faults = append(b.faults, "the page asked "+e.Request.URL)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			b.fault(fmt.Sprintf("logged: %s (%s)", e.Entry.Text, e.Entry.URL))
		}
	case *cdpruntime.EventExceptionThrown:
		b.fault("threw: " + e.ExceptionDetails.Error())
	}
}

func (b *browser) fault(text string) {
	for _, part := range b.excused {
		if strings.Contains(text, part) {
			return
		}
	}
	b.faults = append(b.faults, text)
}

func (b *browser) excuse(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.excused = append(b.excused, part)
}

func (b *browser) run(desc string, actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, client.Watchdog)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v; the page shows:\n%s", desc, err, b.shown())
	}
}

// shown returns the visible text, or "" if a script blocks the page for 5 seconds.
func (b *browser) shown() (text string) {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Text("body", &text, chromedp.ByQuery))
	return text
}

func (b *browser) open(address string) {
	b.t.Helper()
	b.run("open "+address, chromedp.Navigate(address))
}

func (b *browser) see(text string) {
	b.t.Helper()
	b.wait("see "+text, `document.body.innerText.includes(`+quote(text)+`)`)
}

// wait waits until a script returns true. It ignores errors, because a page has no scripts while it
// loads.
func (b *browser) wait(desc, script string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, client.Watchdog)
	defer cancel()
	var last error
	found := false
	client.Poll(func() bool {
		last = chromedp.Run(ctx, chromedp.Evaluate(script, &found))
		return last == nil && found || ctx.Err() != nil
	})
	if last == nil && found {
		return
	}
	text := b.shown()
	b.t.Fatalf("%s: not within %v (%v); the page shows:\n%s", desc, client.Watchdog, last, text)
}

// click waits for a link, button, tab or summary with the given text and clicks it.
func (b *browser) click(name string) {
	b.t.Helper()
	b.wait("click "+name, `(() => { const e = document.evaluate(`+quote(`//*[self::a or self::button or self::summary][normalize-space(.)='`+name+`']`)+`,
		document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue; if (!e || e.offsetParent === null) return false; e.click(); return true })()`)
}

func (b *browser) fill(label, text string) {
	b.t.Helper()
	b.run("fill "+label, chromedp.SetValue(fieldOf(label), text, chromedp.BySearch), chromedp.Evaluate(
		`(() => { const f = document.evaluate(`+quote(fieldOf(label))+`, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue;
		  f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true})); return true })()`, nil))
}

func fieldOf(label string) string {
	return `(//label[contains(normalize-space(.), '` + label + `')]//*[self::input or self::select or self::textarea] | //*[@id=//label[contains(normalize-space(.), '` + label + `')]/@for])[1]`
}

func (b *browser) text(script string) (found string) {
	b.t.Helper()
	b.run("evaluate", chromedp.Evaluate(script, &found))
	return found
}

// dark emulates a user preference for dark colors, or light colors if on is false.
func (b *browser) dark(on bool) {
	b.t.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	b.run("choose colours", emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// screenshot saves a screenshot in the directory TROUPE_SCREENSHOTS, if set.
func (b *browser) screenshot(name string) {
	folder := os.Getenv("TROUPE_SCREENSHOTS")
	if folder == "" {
		return
	}
	var picture []byte
	if err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot(&picture)); err != nil {
		b.t.Logf("no picture: %v", err)
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		b.t.Error(err)
	}
}

func quote(s string) string {
	if strings.Contains(s, `"`) {
		return "'" + s + "'"
	}
	return `"` + s + `"`
}
