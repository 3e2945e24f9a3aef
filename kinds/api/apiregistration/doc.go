// Package apiregistration holds the rules of APIServices. An APIService announces one version of a
// group, served by this server or by one behind a Service.
package apiregistration
