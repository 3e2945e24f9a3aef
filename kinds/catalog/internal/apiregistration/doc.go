// Package apiregistration holds the rules of APIServices.
package apiregistration
