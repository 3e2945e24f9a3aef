package client

import "net/url"

type execOptions struct{ containerFlags }

func (o *execOptions) run(s *session, args []string) error {
	dash := s.command.ArgsLenAtDash()
	if len(args) == 0 || dash == 0 {
		return usageError("pod, type/name or --filename must be specified")
	}
	if dash != 1 || len(args) < 2 {
		return usageError("you must specify the command after --, such as: troupe exec web -- ls /")
	}
	return s.enter(&o.containerFlags, args[0], "exec", url.Values{"command": args[1:]})
}

type attachOptions struct{ containerFlags }

func (o *attachOptions) run(s *session, args []string) error {
	return s.enter(&o.containerFlags, args[0], "attach", url.Values{})
}
