// What Kurtosis makes of an argument or of an expression, by the libraries that it is built with: the right answers of `bench/differ`.
//
//	peers arguments|compose|jq      reads JSON lines, answers each with one
//
// arguments  {"text"}                   → {"value"} or {"error"}, and {"either"}, keys whose value is one of two at random: yaml.v2 → JSON → `json.decode` of Starlark, or the JSON itself
// compose    {"folder", "files", "profiles", "variables"} → {"value"} or {"error"}: a project as compose-go loads it
// jq         {"expression", "input"}    → {"value"} or {"error"}: `input` is a JSON text, results become values of Starlark
//
// A float is told with a point or an exponent.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	ghodss "github.com/ghodss/yaml"
	"github.com/itchyny/gojq"
	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"gopkg.in/yaml.v2"
)

const longest = 5 * time.Second

type question struct {
	Text, Expression, Input, Folder string
	Files, Profiles                 []string
	Variables                       map[string]string
}

type answer struct {
	Value  json.RawMessage `json:"value,omitempty"`
	Error  string          `json:"error,omitempty"`
	Either []string        `json:"either,omitempty"` // texts of two keys of one mapping: `1` and `"1"`
}

func call(name string, argument starlark.Value) (starlark.Value, error) {
	return starlark.Call(new(starlark.Thread), starlarkjson.Module.Members[name], starlark.Tuple{argument}, nil)
}

// `json.encode` writes 1.0 as 1.
func encoded(value starlark.Value) string {
	parts := []string{}
	switch value := value.(type) {
	case starlark.NoneType:
		return "null"
	case starlark.Bool:
		return strings.ToLower(value.String())
	case starlark.String:
		text, _ := json.Marshal(string(value))
		return string(text)
	case *starlark.List:
		for i := 0; i < value.Len(); i++ {
			parts = append(parts, encoded(value.Index(i)))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *starlark.Dict:
		for _, item := range value.Items() {
			parts = append(parts, encoded(item[0])+":"+encoded(item[1]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	default:
		return value.String()
	}
}

func told(value starlark.Value, err error) answer {
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Value: json.RawMessage(encoded(value))}
}

// The client: what is a JSON object goes through as it is. The container: a mapping is asked for.
func arguments(text string) (starlark.Value, error) {
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) != nil {
		converted, err := ghodss.YAMLToJSON([]byte(text))
		if err != nil {
			return nil, err
		}
		text = string(converted)
	}
	value, err := call("decode", starlark.String(text))
	if err != nil {
		return nil, err
	}
	if _, ok := value.(*starlark.Dict); !ok {
		return nil, fmt.Errorf("not a mapping: %v", value)
	}
	return value, nil
}

// As ghodss does it.
func keyText(key any) string {
	if real, ok := key.(float64); ok {
		text := strconv.FormatFloat(real, 'g', -1, 32)
		if special, ok := map[string]string{"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}[text]; ok {
			return special
		}
		return text
	}
	return fmt.Sprint(key)
}

func collisions(value any) (found []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			found = append(found, collisions(item)...)
		}
	case map[any]any:
		seen := map[string]bool{}
		for key, item := range value {
			text := keyText(key)
			if seen[text] {
				found = append(found, text)
			}
			seen[text] = true
			found = append(found, collisions(item)...)
		}
	}
	return found
}

func toldArguments(text string) answer {
	made := told(arguments(text))
	var value any
	if made.Value != nil && yaml.Unmarshal([]byte(text), &value) == nil {
		made.Either = collisions(value)
	}
	return made
}

func toStarlark(value any) starlark.Value {
	switch value := value.(type) {
	case nil:
		return starlark.None // there it becomes the text "<nil>"
	case bool:
		return starlark.Bool(value)
	case int:
		return starlark.MakeInt(value)
	case float64:
		if float64(int(value)) == value {
			return starlark.MakeInt(int(value))
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return starlark.String(starlark.Float(value).String())
		}
		return starlark.Float(value)
	case string:
		return starlark.String(value)
	case []any:
		list := starlark.NewList(nil)
		for _, item := range value {
			list.Append(toStarlark(item))
		}
		return list
	case map[string]any:
		dict := starlark.NewDict(len(value))
		for key, item := range value {
			dict.SetKey(starlark.String(key), toStarlark(item))
		}
		return dict
	default: // an integer of any size, a number that nobody computed with
		return starlark.String(fmt.Sprint(value))
	}
}

func extract(expression, input string) (starlark.Value, error) {
	query, err := gojq.Parse(expression)
	if err != nil {
		return nil, fmt.Errorf("refused: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("refused: %w", err)
	}
	var value any
	if err := json.Unmarshal([]byte(input), &value); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	var found []starlark.Value
	var failure error
	for results := code.RunWithContext(ctx, value); ; {
		result, ok := results.Next()
		if !ok {
			break
		}
		if err, ok := result.(error); ok {
			if ctx.Err() != nil {
				return nil, fmt.Errorf("too long")
			}
			failure = err
		} else if result != nil {
			found = append(found, toStarlark(result))
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return starlark.NewList(found), nil
	case failure != nil:
		return nil, failure
	default:
		return nil, fmt.Errorf("no result")
	}
}

func answered(what string, asked question) (made answer) {
	defer func() {
		if panicked := recover(); panicked != nil {
			made = answer{Error: fmt.Sprint("panic: ", panicked)}
		}
	}()
	if what == "compose" {
		value, err := composed(asked)
		if err != nil {
			return answer{Error: err.Error()}
		}
		text, _ := json.Marshal(value)
		return answer{Value: text}
	}
	if what == "jq" {
		return told(extract(asked.Expression, asked.Input))
	}
	return toldArguments(asked.Text)
}

func main() {
	if len(os.Args) != 2 || (os.Args[1] != "jq" && os.Args[1] != "arguments" && os.Args[1] != "compose") {
		fmt.Fprintln(os.Stderr, "peers arguments|compose|jq")
		os.Exit(2)
	}
	questions, answers := json.NewDecoder(bufio.NewReader(os.Stdin)), bufio.NewWriter(os.Stdout)
	defer answers.Flush()
	encoder := json.NewEncoder(answers)
	encoder.SetEscapeHTML(false)
	for {
		var asked question
		if questions.Decode(&asked) != nil {
			return
		}
		encoder.Encode(answered(os.Args[1], asked))
	}
}
