package autoscaler

import (
	"context"
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A proposal is the number of replicas that one metric requires.
type proposal struct {
	replicas int64
	metric   string    // name in Events
	status   tree.Tree // for status.currentMetrics
}

// A metricKind evaluates metrics of one type. member is the name of the metric field that contains
// the spec, such as "resource". reason and subject describe a failure.
type metricKind struct {
	member, reason string
	subject        func(spec tree.Tree) string
	propose        func(t *turn, ctx context.Context, spec tree.Tree) (proposal, error)
}

var metricKinds = map[string]metricKind{
	"Resource":          {"resource", "FailedGetResourceMetric", func(s tree.Tree) string { return s.String("name") + " resource metric" }, (*turn).resource},
	"ContainerResource": {"containerResource", "FailedGetContainerResourceMetric", func(s tree.Tree) string { return s.String("container") + " container metric" }, (*turn).resource},
	"Pods":              {"pods", "FailedGetPodsMetric", func(tree.Tree) string { return "pods metric" }, (*turn).podsMetric},
	"Object":            {"object", "FailedGetObjectMetric", func(tree.Tree) string { return "object metric" }, (*turn).object},
	"External":          {"external", "FailedGetExternalMetric", func(s tree.Tree) string { return s.Object("metric").String("name") + " external metric" }, (*turn).external},
}

// propose evaluates one metric. On error, it also returns the reason for the ScalingActive
// condition.
func (t *turn) propose(ctx context.Context, metric tree.Tree) (p proposal, reason string, err error) {
	kind, known := metricKinds[metric.String("type")]
	if !known {
		return p, "InvalidMetricSourceType", fmt.Errorf("unknown metric source type %q", metric.String("type"))
	}
	spec := metric.Object(kind.member)
	p, err = kind.propose(t, ctx, spec)
	if err != nil {
		t.event(warning, kind.reason, err.Error())
		t.failure = fmt.Sprintf("the HPA was unable to compute the replica count: %v", err)
		return p, kind.reason, fmt.Errorf("failed to get %s value: %w", kind.subject(spec), err)
	}
	p.status = tree.Tree{"type": metric.String("type"), kind.member: p.status}
	return p, "", nil
}

func (t *turn) calculation(resource string) *calculation {
	return &calculation{current: t.current, pods: t.pods, resource: resource, tolerance: t.tolerance, options: t.Options, now: t.now}
}

func (t *turn) resource(ctx context.Context, spec tree.Tree) (p proposal, err error) {
	name, container, target := spec.String("name"), spec.String("container"), spec.Object("target")
	wanted, percent := target.Int("averageUtilization")
	raw := target.Has("averageValue")
	what := "utilization"
	if raw {
		what = "usage"
	} else if !percent {
		return p, errors.New("invalid resource metric source: neither an average utilization target nor an average value target was set")
	}
	failed := func(err error) (proposal, error) { return p, fmt.Errorf("failed to get %s %s: %w", name, what, err) }
	m, err := t.source.resource(ctx, t.namespace(), name, container, t.selectorText)
	if err == nil && len(m) == 0 {
		err = errNoSamples
	}
	if err != nil {
		return failed(fmt.Errorf("unable to get metrics for resource %s: %w", name, err))
	}
	c := t.calculation(name)
	if raw {
		average, err := thousandths(target.String("averageValue"))
		if err != nil {
			return failed(err)
		}
		c.average(average)
	} else if err := c.utilization(wanted, container); err != nil {
		return failed(err)
	}
	replicas, seen, err := c.replicas(m)
	if err != nil {
		return failed(err)
	}
	current := tree.Tree{"averageValue": amount(seen.average, name)}
	p = proposal{replicas: replicas, metric: name + " resource", status: tree.Tree{"name": name, "current": current}}
	if container != "" {
		p.status["container"] = container
	}
	if !raw {
		current["averageUtilization"] = seen.percent
		p.metric = name + " resource utilization (percentage of request)"
		if container != "" {
			p.metric = name + " container resource utilization (percentage of request)"
		}
	}
	return p, nil
}

func (t *turn) podsMetric(ctx context.Context, spec tree.Tree) (p proposal, err error) {
	name, selected, err := metricOf(spec)
	if err != nil {
		return p, err
	}
	m, err := t.source.pods(ctx, t.namespace(), name, selected, t.selectorText)
	if err != nil {
		return p, fmt.Errorf("unable to get metric %s: %w", name, err)
	}
	c := t.calculation("")
	average, err := thousandths(spec.Object("target").String("averageValue"))
	if err != nil {
		return p, err
	}
	c.average(average)
	replicas, seen, err := c.replicas(m)
	return proposal{replicas, "pods metric " + name, tree.Tree{
		"metric": spec["metric"], "current": tree.Tree{"averageValue": amount(seen.average, "")},
	}}, err
}

func (t *turn) object(ctx context.Context, spec tree.Tree) (p proposal, err error) {
	name, selected, err := metricOf(spec)
	if err != nil {
		return p, err
	}
	about := spec.Object("describedObject")
	value, err := t.objectValue(ctx, about, name, selected)
	if err != nil {
		return p, fmt.Errorf("unable to get metric %s on %s %s/%s: %w", name, about.String("kind"), t.namespace(), about.String("name"), err)
	}
	p, err = t.byValue(spec, value, about.String("kind")+" metric "+name)
	p.status["describedObject"] = about
	return p, err
}

func (t *turn) objectValue(ctx context.Context, about tree.Tree, name, selected string) (int64, error) {
	k := t.kindOf(about)
	if k == nil {
		return 0, unknownKind(about)
	}
	resource := k.Resource
	if k.Group != "" {
		resource += "." + k.Group
	}
	return t.source.object(ctx, t.namespace(), resource, about.String("name"), name, selected)
}

func (t *turn) external(ctx context.Context, spec tree.Tree) (p proposal, err error) {
	name, selected, err := metricOf(spec)
	if err != nil {
		return p, err
	}
	value, err := t.source.external(ctx, t.namespace(), name, selected)
	if err != nil {
		return p, fmt.Errorf("failed to get %s external metric: unable to get external metric %s/%s: %w", name, t.namespace(), name, err)
	}
	return t.byValue(spec, value, "external metric "+name)
}

func (t *turn) byValue(spec tree.Tree, value int64, metric string) (p proposal, err error) {
	target := spec.Object("target")
	p = proposal{metric: metric, status: tree.Tree{"metric": spec["metric"]}}
	if target.Has("averageValue") {
		wanted, err := thousandths(target.String("averageValue"))
		if err != nil {
			return p, err
		}
		var share int64
		p.replicas, share = forShare(value, wanted, t.observed, t.tolerance)
		p.status["current"] = tree.Tree{"averageValue": amount(share, "")}
		return p, nil
	}
	wanted, err := thousandths(target.String("value"))
	if err != nil {
		return p, err
	}
	p.replicas, err = t.calculation("").forValue(value, wanted)
	p.status["current"] = tree.Tree{"value": amount(value, "")}
	return p, err
}

func metricOf(spec tree.Tree) (name, selected string, err error) {
	metric := spec.Object("metric")
	if !metric.Has("selector") {
		return metric.String("name"), "", nil
	}
	labels, ok := selector.FromLabelSelector(metric.Object("selector"))
	if !ok {
		return "", "", errors.New("cannot read the selector of the metric")
	}
	return metric.String("name"), labels.String(), nil
}
