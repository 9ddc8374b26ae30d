//go:build schemas

// Package tools pins what no program here imports.
package tools

import _ "github.com/CycloneDX/cyclonedx-go" // the tests check bills of materials against its schemas
