package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// redPixel is the smallest picture.
func redPixel() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// silence is a sound file of no samples: RIFF, WAVE, PCM, mono, 8 kHz, 8 bit.
func silence() []byte {
	var b bytes.Buffer
	for _, part := range []any{
		[]byte("RIFF"), uint32(36), []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1),
		uint32(8000), uint32(8000), uint16(1), uint16(8), []byte("data"), uint32(0),
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func gives(res func() *mcp.CallToolResult) func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return res(), nil }
}

func resource(uri, mime, content string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: mime, Text: content}}
}

// contentTools give one kind of content each.
func contentTools() map[string]tool {
	picture := func() mcp.Content { return &mcp.ImageContent{Data: redPixel(), MIMEType: "image/png"} }
	return map[string]tool{
		"test_simple_text": {about: "Gives a text.", do: gives(func() *mcp.CallToolResult {
			return text("This is a simple text response for testing.")
		})},
		"test_image_content": {about: "Gives a picture.", do: gives(func() *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: []mcp.Content{picture()}}
		})},
		"test_audio_content": {about: "Gives a sound.", do: gives(func() *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.AudioContent{Data: silence(), MIMEType: "audio/wav"}}}
		})},
		"test_embedded_resource": {about: "Gives a resource.", do: gives(func() *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: []mcp.Content{resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")}}
		})},
		"test_multiple_content_types": {about: "Gives a text, a picture and a resource.", do: gives(func() *mcp.CallToolResult {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.TextContent{Text: "Multiple content types test:"}, picture(),
				resource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
			}}
		})},
		"test_error_handling": {about: "Fails.", do: gives(func() *mcp.CallToolResult {
			return failed("This tool intentionally returns an error for testing")
		})},
		"json_schema_2020_12_tool": {about: "Tool with JSON Schema 2020-12 features", schema: schema2020, do: gives(func() *mcp.CallToolResult {
			return text("ok")
		})},
		"test_x_mcp_header": {about: "Has a parameter that is mirrored by a header.", schema: schemaHeader, do: gives(func() *mcp.CallToolResult {
			return text("ok")
		})},
	}
}

// schemaHeader has a parameter that 2026-07-28 mirrors in Mcp-Param-Region.
const schemaHeader = `{"type":"object","properties":{"region":{"type":"string","description":"Where.","x-mcp-header":"Region"}}}`
