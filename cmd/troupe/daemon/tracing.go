package daemon

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/cmd/troupe/internal/otlp"
)

// tracing exports the spans of requests. It does nothing without a configuration file.
type tracing struct {
	base
	provider *sdk.TracerProvider // nil if requests are not traced
}

// flushTimeout limits how long Stop waits for a collector that does not respond.
const flushTimeout = 5 * time.Second

// maxAttributeLength limits the strings of a span, because 2,048 spans may wait for the collector.
const maxAttributeLength = 1 << 10

func (t *tracing) Start() error {
	path := t.config.TracingConfigFile
	if path == "" {
		return nil
	}
	config, _, err := loadConfig(t.storage.kinds, "TracingConfiguration", path)
	var exporter *otlp.Exporter
	if err == nil {
		exporter, err = otlp.New(cmp.Or(config.String("endpoint"), otlp.DefaultEndpoint), t.log)
	}
	if err != nil {
		return fmt.Errorf("--tracing-config-file %s: %w", path, err)
	}
	rate, _ := config.Int("samplingRatePerMillion")
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	limits := sdk.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxAttributeLength
	t.provider = sdk.NewTracerProvider(
		sdk.WithRawSpanLimits(limits),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(float64(rate)/1e6))),
		sdk.WithResource(resource.NewSchemaless(
			semconv.ServiceName("apiserver"), semconv.ServiceInstanceID(apiserver.ID(host)), semconv.ServiceVersion(Version),
		)),
		sdk.WithBatcher(exporter),
	)
	return nil
}

// Stop exports the spans of the last requests.
func (t *tracing) Stop(ctx context.Context) error {
	if t.provider != nil {
		flushing, cancel := context.WithTimeout(ctx, flushTimeout)
		defer cancel()
		if err := t.provider.Shutdown(flushing); err != nil {
			t.log.Warn("some traces were not exported", "error", err)
		}
	}
	return t.base.Stop(ctx)
}

// tracerProvider returns a nil interface if requests are not traced.
func (t *tracing) tracerProvider() trace.TracerProvider {
	if t.provider == nil {
		return nil
	}
	return t.provider
}
