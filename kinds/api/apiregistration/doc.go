// Package apiregistration holds the rules of APIServices. An APIService registers one version of a
// group, which is served by this server or by an aggregated server behind a Service.
package apiregistration
