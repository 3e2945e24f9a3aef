package client

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

type logOptions struct {
	Follow, Previous, Timestamps, AllContainers, Prefix bool
	Container, Selector, SinceTime                      string
	Since                                               time.Duration
	Tail, LimitBytes                                    int64
}

func (o *logOptions) run(s *session, args []string) error {
	q := url.Values{}
	for name, set := range map[string]bool{"follow": o.Follow, "previous": o.Previous, "timestamps": o.Timestamps} {
		if set {
			q.Set(name, "true")
		}
	}
	if o.Selector != "" && o.Tail < 0 && !s.command.Flags().Changed("tail") {
		o.Tail = 10
	}
	if o.Tail >= 0 {
		q.Set("tailLines", fmt.Sprint(o.Tail))
	}
	if o.LimitBytes > 0 {
		q.Set("limitBytes", fmt.Sprint(o.LimitBytes))
	}
	if o.Since > 0 {
		q.Set("sinceSeconds", fmt.Sprint(int64((o.Since+time.Second-1)/time.Second)))
	}
	if o.SinceTime != "" {
		q.Set("sinceTime", o.SinceTime)
	}
	pods, err := s.podsOf(args, o.Selector)
	if err != nil {
		return err
	}
	if len(args) == 2 {
		o.Container = args[1]
	}
	if o.Follow && len(pods) > 1 {
		return usageError("only one Pod can be followed: name it")
	}
	for _, pod := range pods {
		if err := s.showLogs(pod, o.Container, o.AllContainers, o.Prefix, q); err != nil {
			return err
		}
	}
	return nil
}

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
	r, err := s.own("", "pods")
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
		names = containerNames(pod, "initContainers", "containers")
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
