// Package flags defines flags that are bound to struct fields.
package flags

import (
	"reflect"
	"time"

	"github.com/spf13/pflag"
)

// Define adds a flag bound to a field. The default is the field's value. A list flag accepts
// comma-separated items, or one item per occurrence if repeat is set.
func Define(f *pflag.FlagSet, field reflect.Value, name, short, help string, repeat bool) {
	switch p := field.Addr().Interface().(type) {
	case pflag.Value:
		f.VarP(p, name, short, help)
	case *bool:
		f.BoolVarP(p, name, short, *p, help)
	case *int:
		f.IntVarP(p, name, short, *p, help)
	case *int64:
		f.Int64VarP(p, name, short, *p, help)
	case *float64:
		f.Float64VarP(p, name, short, *p, help)
	case *time.Duration:
		f.DurationVarP(p, name, short, *p, help)
	case *map[string]string:
		f.StringToStringVarP(p, name, short, *p, help)
	case *[]string:
		if repeat {
			f.StringArrayVarP(p, name, short, *p, help)
		} else {
			f.StringSliceVarP(p, name, short, *p, help)
		}
	default:
		f.StringVarP(field.Addr().Convert(reflect.TypeFor[*string]()).Interface().(*string), name, short, field.String(), help)
	}
}
