package client

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

func logs(f *connectionFlags) *cobra.Command {
	var follow, previous, timestamps, all, prefix bool
	var container, selector, since string
	var ago time.Duration
	var tail, limit int64
	c := &cobra.Command{
		Use:               "logs POD | TYPE/NAME | -l SELECTOR",
		Short:             "Print the logs of containers",
		Example:           "  troupe logs web -f\n  troupe logs deployment/web --tail=20\n  troupe logs -l app=web --prefix",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: f.completeNamesOf("pods"),
	}
	flags := c.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "Stream new lines.")
	flags.BoolVarP(&previous, "previous", "p", false, "Print logs of the previous instance of the container.")
	flags.BoolVar(&timestamps, "timestamps", false, "Prefix lines with timestamps.")
	flags.BoolVar(&all, "all-containers", false, "Print logs of all containers of the Pods.")
	flags.BoolVar(&prefix, "prefix", false, "Prefix lines with the Pod and container.")
	flags.StringVarP(&container, "container", "c", "", "Container.")
	flags.StringVarP(&selector, "selector", "l", "", "Label selector of Pods.")
	flags.DurationVar(&ago, "since", 0, "Print only lines newer than this duration.")
	flags.StringVar(&since, "since-time", "", "Print only lines after this time (RFC 3339).")
	flags.Int64Var(&tail, "tail", -1, "Number of recent lines; negative means all, or 10 with a selector.")
	flags.Int64Var(&limit, "limit-bytes", 0, "Maximum bytes; 0 means no limit.")
	c.RunE = f.run(func(s *session, args []string) error {
		q := url.Values{}
		for name, set := range map[string]bool{"follow": follow, "previous": previous, "timestamps": timestamps} {
			if set {
				q.Set(name, "true")
			}
		}
		if selector != "" && tail < 0 && !flags.Changed("tail") {
			tail = 10
		}
		if tail >= 0 {
			q.Set("tailLines", fmt.Sprint(tail))
		}
		if limit > 0 {
			q.Set("limitBytes", fmt.Sprint(limit))
		}
		if ago > 0 {
			q.Set("sinceSeconds", fmt.Sprint(int64((ago+time.Second-1)/time.Second)))
		}
		if since != "" {
			q.Set("sinceTime", since)
		}
		pods, err := s.podsOf(args, selector)
		if err != nil {
			return err
		}
		if len(args) == 2 {
			container = args[1]
		}
		if follow && len(pods) > 1 {
			return usageError("only one Pod can be followed: name it")
		}
		for _, pod := range pods {
			if err := s.showLogs(pod, container, all, prefix, q); err != nil {
				return err
			}
		}
		return nil
	})
	return c
}

// podsOf returns the named or selected Pods.
func (s *session) podsOf(args []string, selector string) ([]object, error) {
	if selector == "" {
		if len(args) == 0 {
			return nil, usageError("expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]': POD or TYPE/NAME is a required argument for the logs command")
		}
		pod, err := s.podFor(args[0])
		return []object{pod}, err
	}
	if len(args) > 0 {
		return nil, usageError("only a selector (-l) or a POD name is allowed")
	}
	c, err := s.served()
	if err != nil {
		return nil, err
	}
	r, err := c.Own("", "pods")
	if err != nil {
		return nil, err
	}
	found, err := s.list(r, s.Namespace, url.Values{"labelSelector": {selector}})
	if err == nil && len(found) == 0 {
		err = usageError(fmt.Sprintf("no Pods match the selector in namespace %s", s.Namespace))
	}
	return found, err
}

func (s *session) showLogs(pod object, container string, all, prefix bool, q url.Values) error {
	names := []string{container}
	if all {
		names = nil
		for _, field := range []string{"initContainers", "containers"} {
			for _, c := range pod.tree.Object("spec").Objects(field) {
				names = append(names, c.String("name"))
			}
		}
	}
	for _, name := range names {
		name, err := s.containerOf(pod, name)
		if err != nil {
			return err
		}
		q.Set("container", name)
		stream, err := s.Stream(s.ctx, rest.Request{Method: "GET", Path: pod.path() + "/log", Query: q, Accept: "application/json, */*"})
		if err != nil {
			return err
		}
		out := s.out
		if prefix {
			out = &prefixed{w: s.out, prefix: fmt.Sprintf("[pod/%s/%s] ", pod.name(), name), start: true}
		}
		_, err = io.Copy(out, stream)
		stream.Close()
		switch {
		case s.ctx.Err() != nil:
			return s.ctx.Err()
		case err != nil:
			return errors.New("the log stream ended early: " + err.Error())
		}
	}
	return nil
}

// prefixed writes a prefix before each line.
type prefixed struct {
	w      io.Writer
	prefix string
	start  bool // at the start of a line
}

func (p *prefixed) Write(b []byte) (int, error) {
	var out []byte
	for _, c := range b {
		if p.start {
			out = append(out, p.prefix...)
		}
		out = append(out, c)
		p.start = c == '\n'
	}
	_, err := p.w.Write(out)
	return len(b), err
}
