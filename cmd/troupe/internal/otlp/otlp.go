// Package otlp exports spans with the OpenTelemetry protocol over gRPC.
//
// It encodes the protocol itself, because the exporter of OpenTelemetry registers Protobuf types
// whenever the process starts, even if nothing is traced.
package otlp

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
)

// DefaultEndpoint is the usual address of a collector on the same host.
const DefaultEndpoint = "localhost:4317"

// retries makes gRPC make up to four attempts while the collector is unavailable.
const retries = `{"methodConfig": [{"name": [{"service": "opentelemetry.proto.collector.trace.v1.TraceService"}], "retryPolicy": {
	"maxAttempts": 4, "initialBackoff": "0.2s", "maxBackoff": "2s", "backoffMultiplier": 3, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`

// An Exporter sends spans to a collector. Spans that the collector does not accept are lost. It
// ignores events of spans, and attributes that are not strings, integers or booleans.
type Exporter struct {
	connection *grpc.ClientConn
	log        *slog.Logger
	failing    atomic.Bool // since the last success
}

// New returns an Exporter for a gRPC target. It connects with the first spans.
func New(endpoint string, log *slog.Logger) (*Exporter, error) {
	c, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(retries))
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	return &Exporter{connection: c, log: log}, nil
}

// ExportSpans logs the first of consecutive failures and never returns an error, because the SDK
// would log it outside of the server's log.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.connection.Invoke(ctx, "/opentelemetry.proto.collector.trace.v1.TraceService/Export", encode(spans), nil, grpc.ForceCodec(encoded{}))
	if failed := err != nil; e.failing.Swap(failed) != failed {
		if failed {
			e.log.Warn("failed to export traces", "endpoint", e.connection.Target(), "error", err)
		} else {
			e.log.Info("traces are exported again", "endpoint", e.connection.Target())
		}
	}
	return nil
}

// Shutdown closes the connection.
func (e *Exporter) Shutdown(context.Context) error { return e.connection.Close() }

// encoded is the codec of encoded requests. It ignores responses.
type encoded struct{}

func (encoded) Marshal(v any) ([]byte, error)   { return v.([]byte), nil }
func (encoded) Unmarshal(_ []byte, _ any) error { return nil }
func (encoded) Name() string                    { return "proto" }

// The numbers below are those of the fields in the messages of opentelemetry-proto.

// encode returns an ExportTraceServiceRequest. All spans have the same resource and scope.
func encode(spans []sdk.ReadOnlySpan) []byte {
	var resource, scope []byte
	if len(spans) > 0 {
		resource = appendAttributes(nil, 1, spans[0].Resource().Attributes())
		scope = appendMessage(nil, 1, appendString(nil, 1, spans[0].InstrumentationScope().Name))
	}
	for _, s := range spans {
		scope = appendMessage(scope, 2, encodeSpan(s))
	}
	return appendMessage(nil, 1, appendMessage(appendMessage(nil, 1, resource), 2, scope))
}

func encodeSpan(s sdk.ReadOnlySpan) []byte {
	b := appendContext(nil, s.SpanContext())
	if parent := s.Parent().SpanID(); parent.IsValid() {
		b = appendMessage(b, 4, parent[:])
	}
	b = appendString(b, 5, s.Name())
	b = appendNumber(b, 6, uint64(s.SpanKind()))
	b = appendFixed(b, 7, uint64(s.StartTime().UnixNano()))
	b = appendFixed(b, 8, uint64(s.EndTime().UnixNano()))
	b = appendAttributes(b, 9, s.Attributes())
	for _, link := range s.Links() {
		b = appendMessage(b, 13, appendContext(nil, link.SpanContext))
	}
	if status := s.Status(); status.Code == codes.Error {
		b = appendMessage(b, 15, appendNumber(appendString(nil, 2, status.Description), 3, 2))
	}
	return b
}

func appendContext(b []byte, c trace.SpanContext) []byte {
	id, span := c.TraceID(), c.SpanID()
	return appendString(appendMessage(appendMessage(b, 1, id[:]), 2, span[:]), 3, c.TraceState().String())
}

func appendAttributes(b []byte, number protowire.Number, attributes []attribute.KeyValue) []byte {
	for _, a := range attributes {
		var value []byte
		switch a.Value.Type() {
		case attribute.STRING:
			value = appendString(nil, 1, a.Value.AsString())
		case attribute.BOOL:
			value = appendNumber(nil, 2, protowire.EncodeBool(a.Value.AsBool()))
		case attribute.INT64:
			value = appendNumber(nil, 3, uint64(a.Value.AsInt64()))
		default:
			continue
		}
		b = appendMessage(b, number, appendMessage(appendString(nil, 1, string(a.Key)), 2, value))
	}
	return b
}

func appendMessage(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

// appendString replaces invalid UTF-8, such as that of a path, because a collector rejects all
// spans of a request that contains any.
func appendString(b []byte, number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), strings.ToValidUTF8(value, "\ufffd"))
}

func appendNumber(b []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
}

func appendFixed(b []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), value)
}
