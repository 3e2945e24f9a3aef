package http

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"sigs.k8s.io/yaml"
)

// deleteBody is the JSON form of DeleteOptions.
type deleteBody struct {
	Kind               string   `json:"kind"`
	APIVersion         string   `json:"apiVersion"`
	GracePeriodSeconds *int64   `json:"gracePeriodSeconds"`
	PropagationPolicy  *string  `json:"propagationPolicy"`
	OrphanDependents   *bool    `json:"orphanDependents"`
	DryRun             []string `json:"dryRun"`
	Preconditions      *struct {
		UID             *string `json:"uid"`
		ResourceVersion *string `json:"resourceVersion"`
	} `json:"preconditions"`
}

// deleteOptions reads the options of a delete: from the body if there is one, else from
// the query.
func (s *Server) deleteOptions(x *exchange) (o writeOptions, d request.DeleteOptions, err error) {
	body, err := x.body()
	if err != nil {
		return o, d, err
	}
	var b deleteBody
	if len(body) > 0 {
		b, err = s.decodeDelete(string(x.ctx.Request.Header.ContentType()), body)
	} else {
		b, err = queryDelete(x.query)
	}
	if err != nil {
		return o, d, err
	}
	var f schema.Faults
	o.manager = managerOf(x.ctx.UserAgent())
	o.dryRun = dryRun(append(b.DryRun, x.query.all("dryRun")...), &f)
	d.GracePeriodSeconds = b.GracePeriodSeconds
	d.PropagationPolicy = b.policy(&f)
	if p := b.Preconditions; p != nil {
		d.UID, d.ResourceVersion = textOf(p.UID), textOf(p.ResourceVersion)
	}
	return o, d, s.invalidOptions("DeleteOptions", f)
}

func textOf(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// policy is the propagation policy, in its old or its new form.
func (b *deleteBody) policy(f *schema.Faults) string {
	if b.OrphanDependents != nil && b.PropagationPolicy != nil {
		f.Invalid("propagationPolicy", *b.PropagationPolicy, "orphanDependents and deletionPropagation cannot be both set")
		return ""
	}
	if b.OrphanDependents != nil {
		if *b.OrphanDependents {
			return "Orphan"
		}
		return "Background"
	}
	switch p := textOf(b.PropagationPolicy); p {
	case "Foreground", "Background", "Orphan":
		return p
	default:
		if b.PropagationPolicy != nil {
			f.NotSupported("propagationPolicy", p, []string{"Foreground", "Background", "Orphan", "nil"})
		}
		return ""
	}
}

func (s *Server) decodeDelete(contentType string, body []byte) (b deleteBody, err error) {
	switch s.names.bodyMedia(contentType, true) {
	case mediaJSON:
		err = json.Unmarshal(body, &b)
	case mediaYAML:
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
			err = json.Unmarshal(body, &b)
			break
		}
		err = yaml.UnmarshalStrict(body, &b)
	case mediaProtobuf:
		b, err = s.protobufDelete(body)
	default:
		return b, unsupportedMedia(s.names.accepted)
	}
	if err != nil {
		return b, badRequest("couldn't get version/kind; json parse error: " + err.Error())
	}
	if b.Kind != "" && b.Kind != "DeleteOptions" {
		return b, badRequest("the object provided is unrecognized (must be of type DeleteOptions): kind " + strconv.Quote(b.Kind))
	}
	return b, nil
}

func queryDelete(q query) (b deleteBody, err error) {
	if q == "" {
		return b, nil
	}
	if v := q.get("gracePeriodSeconds"); v != "" {
		n, err := parseInt(v)
		if err != nil {
			return b, err
		}
		b.GracePeriodSeconds = &n
	}
	if v := q.get("propagationPolicy"); v != "" {
		b.PropagationPolicy = &v
	}
	if q.get("orphanDependents") != "" {
		v := q.flag("orphanDependents")
		b.OrphanDependents = &v
	}
	return b, nil
}
