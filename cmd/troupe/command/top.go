package command

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// top shows what a running daemon does, again and again.
func top() *cobra.Command {
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch what a running daemon does, live",
		Long: `Watch what the running daemon of --kubeconfig does: requests by kind, commits, syncs,
watches, memory, and the busiest collections, refreshed every --interval and fit to the
terminal. Ctrl-C ends it. All figures come from /metrics. Where the output is no terminal,
--count says how many looks are printed one below the other.`,
		Args: cobra.NoArgs,
	}
	kubeconfig := kubeconfigFlag(c)
	interval := c.Flags().Duration("interval", 2*time.Second, "Time between two looks.")
	count := c.Flags().Int("count", 0, "Looks to show; 0 goes on until Ctrl-C.")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *interval < 100*time.Millisecond {
			return fmt.Errorf("--interval %v is too short: 100ms at least, so that looking is no load", *interval)
		}
		r, err := loadDaemonClient(*kubeconfig)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(contextOf(c), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return r.top(ctx, c.OutOrStdout(), *interval, *count)
	}
	return c
}

// The sequences of terminals: another screen without a cursor, and back; the upper left corner; the rest of the line and of the screen.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toCorner    = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// top looks until the context ends, or so many times if count is not 0.
func (r *daemonClient) top(ctx context.Context, w io.Writer, interval time.Duration, count int) error {
	screen, live := w.(*os.File)
	live = live && term.IsTerminal(int(screen.Fd()))
	before, err := r.scrape(ctx)
	if err != nil {
		return err
	}
	if live {
		fmt.Fprint(w, enterScreen)
		defer fmt.Fprint(w, leaveScreen)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	fault := ""
	for shown := 0; count == 0 || shown < count; shown++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		after, err := r.scrape(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !live:
			return err
		case err != nil: // it may be starting again
			fault = err.Error()
			after = before
		default:
			fault = ""
		}
		width, height := topWidth, 0
		if live {
			if columns, rows, err := term.GetSize(int(screen.Fd())); err == nil {
				width, height = columns, rows
			}
		}
		report := &statusReport{server: r.URL(), before: before, after: after}
		var b bytes.Buffer
		report.topScreen(&b, width, height, fault)
		if live {
			_, err = io.WriteString(w, toCorner+strings.ReplaceAll(b.String(), "\n", clearLine+"\n")+clearBelow)
		} else {
			_, err = w.Write(append(b.Bytes(), '\n'))
		}
		if err != nil {
			return err
		}
		before = after
	}
	return nil
}

// topWidth is for output that is no terminal, and the narrowest that everything fits in.
const topWidth = 80

// topScreen draws one look: at most height lines, if that is not 0, of at most width columns.
func (p *statusReport) topScreen(w io.Writer, width, height int, fault string) {
	a := p.after
	lines := []string{
		fmt.Sprintf("troupe %s  %s  up %s  %s", a.label("troupe_info", "version"), p.server,
			time.Duration(a.value("troupe_uptime_seconds")*1e9).Truncate(time.Second), a.at.Format(time.TimeOnly)),
		fmt.Sprintf("objects   %s in %d collections at version %s", count(a.sum("troupe_objects", "")), len(a.resources("troupe_objects")), count(a.value("troupe_resource_version"))),
		fmt.Sprintf("requests  %.0f/s  at work %s reads %s writes  429 %.0f/s  5xx %.0f/s", p.rateOf("apiserver_request_total", ""),
			count(a.sum("apiserver_current_inflight_requests", `"readOnly"`)), count(a.sum("apiserver_current_inflight_requests", `"mutating"`)),
			p.rateOf("apiserver_request_total", `code="429"`), p.rateOf("apiserver_request_total", `code="5`)),
		"          " + p.verbs(),
		fmt.Sprintf("watches   %s open  %.0f events/s", count(a.value("troupe_watchers")), p.rate("troupe_watch_events_total")),
		fmt.Sprintf("commits   %.0f/s in %.0f batches/s  waiting %s  sync %s  batch %s", p.rate("troupe_commits_total"), p.rate("troupe_commit_batches_total"), count(a.value("troupe_commit_queue_depth")),
			short(p.mean("troupe_journal_sync_seconds_total", "troupe_journal_sync_total")), short(p.mean("troupe_commit_seconds_total", "troupe_commit_batches_total"))),
		fmt.Sprintf("memory    %s resident  history %s  journal %s%s", size(a.value("process_resident_memory_bytes")), size(a.sum("troupe_history_bytes", "")), size(a.value("troupe_journal_bytes")), p.diskFullNote()),
		fmt.Sprintf("process   %.1f%% of a CPU  %s goroutines  %s files  actors %s awake", 100*p.rate("process_cpu_seconds_total"), count(a.value("go_goroutines")), count(a.value("process_open_fds")), count(a.value("troupe_object_actors"))),
		"",
	}
	if fault != "" {
		lines = append(lines, "NO ANSWER: "+fault, "")
	}
	shown := 10
	if height > 0 {
		shown = max(0, height-len(lines)-2) // below the heads, above the cursor
	}
	lines = append(lines, p.table(shown, width)...)
	if height > 0 {
		lines = lines[:min(len(lines), height-1)]
	}
	for _, line := range lines {
		if runes := []rune(line); len(runes) > width {
			line = string(runes[:width])
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// table is the busiest collections, as lines of at most width columns: names are cut, figures are not.
func (p *statusReport) table(shown, width int) []string {
	rows := p.rows()
	rows = rows[:min(shown, len(rows))]
	figures := slices.Clone(rows)
	for i := range figures {
		figures[i].resource = ""
	}
	widest := 0
	for _, line := range tableLines(figures) {
		widest = max(widest, len(line))
	}
	name := max(len(collectionHead), width-widest+len(collectionHead))
	for i, r := range rows {
		if len(r.resource) > name {
			rows[i].resource = r.resource[:name-1] + "…" // names of resources are ASCII
		}
	}
	return tableLines(rows)
}

func tableLines(rows []row) []string {
	var b bytes.Buffer
	_ = writeRows(&b, rows) // to memory
	return strings.Split(strings.Trim(b.String(), "\n"), "\n")
}

// verbs are the rates of requests by verb, the most frequent first, as far as they fit.
func (p *statusReport) verbs() string {
	rates := map[string]float64{}
	for series, value := range p.after.samples {
		labels, ok := strings.CutPrefix(series, "apiserver_request_total{")
		if !ok {
			continue
		}
		_, rest, _ := strings.Cut(labels, `verb="`)
		verb, _, _ := strings.Cut(rest, `"`)
		rates[verb] += ratio(value-p.before.samples[series], p.after.at.Sub(p.before.at).Seconds())
	}
	var verbs []string
	for verb, rate := range rates {
		if rate >= 0.5 {
			verbs = append(verbs, verb)
		}
	}
	slices.SortFunc(verbs, func(a, b string) int { return cmp.Or(cmp.Compare(rates[b], rates[a]), strings.Compare(a, b)) })
	const most = 5
	var texts []string
	for _, verb := range verbs[:min(most, len(verbs))] {
		texts = append(texts, fmt.Sprintf("%s %.0f/s", verb, rates[verb]))
	}
	return cmp.Or(strings.Join(texts, "  "), "none now")
}

// contextOf is the context of a command, which has none where a test runs it without.
func contextOf(c *cobra.Command) context.Context {
	if ctx := c.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}
