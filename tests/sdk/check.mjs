// The official SDKs against the mock provider: they accept what it serves, streamed and whole, and it
// finds nothing wrong with what they send.
//   node check.mjs SERVE_MOCK FOLDER      FOLDER has the packages (tools/install_sdks); exit 77 without
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [program, folder] = process.argv.slice(2);
if (!existsSync(resolve(folder, "node_modules"))) {
  console.log(`no packages in ${folder}: run tools/install_sdks`);
  process.exit(77);
}
const from = createRequire(resolve(folder, "package.json"));
const load = (name) => import(pathToFileURL(from.resolve(name)));
const { default: OpenAI } = await load("openai");
const { default: Anthropic } = await load("@anthropic-ai/sdk");
const { GoogleGenAI } = await load("@google/genai");

const mock = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: mock.stdout })[Symbol.asyncIterator]();
const next_line = async () => JSON.parse((await lines.next()).value);
const { url } = await next_line();
const asked = async () => (mock.stdin.write("\n"), next_line());

const schema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "array", items: { type: "integer" } } },
  required: ["city"],
};
const first = { city: "Oslo", days: [1, 2] };
const second = { city: "Bergen \u00e6\n" };
const final = "Rain \u2614 in both.";
const question = "please call the weather";
const describe = { name: "weather", description: "The weather in a city" };

let checked = 0;
async function check(name, body) {
  try {
    await body();
    ++checked;
  } catch (error) {
    console.log(`FAILED: ${name}\n`, error);
    process.exitCode = 1;
  }
}
const both = async (name, body) => {
  await check(`${name}, whole`, () => body(false));
  await check(`${name}, streamed`, () => body(true));
};

const openai = new OpenAI({ apiKey: "key", baseURL: `${url}/v1`, maxRetries: 0 });
const anthropic = new Anthropic({
  apiKey: "key",
  baseURL: url,
  maxRetries: 0,
  defaultHeaders: { "anthropic-version": "2026-10-21" },
});
const gemini = new GoogleGenAI({ apiKey: "key", httpOptions: { baseUrl: url } });

await both("Chat Completions", async (stream) => {
  const tools = [{ type: "function", function: { ...describe, parameters: schema } }];
  const messages = [{ role: "user", content: question }];
  const ask = async () => {
    const body = { model: "m", tools, messages };
    if (!stream) return (await openai.chat.completions.create(body)).choices[0].message;
    const run = openai.chat.completions.stream({ ...body, stream_options: { include_usage: true } });
    const usage = await run.totalUsage();
    assert.ok(usage.total_tokens > 0);
    return (await run.finalChatCompletion()).choices[0].message;
  };
  const turn = await ask();
  assert.equal(turn.content, "I will look.");
  assert.deepEqual(turn.tool_calls.map((call) => JSON.parse(call.function.arguments)), [first, second]);
  messages.push({ role: "assistant", content: turn.content, tool_calls: turn.tool_calls });
  for (const call of turn.tool_calls) messages.push({ role: "tool", tool_call_id: call.id, content: "rain" });
  assert.equal((await ask()).content, final);
});

await both("Responses", async (stream) => {
  const tools = [{ type: "function", ...describe, parameters: schema, strict: false }];
  const input = [{ role: "user", content: question }];
  const ask = async () => {
    const body = { model: "m", store: false, include: ["reasoning.encrypted_content"], tools, input };
    if (!stream) return openai.responses.create(body);
    return openai.responses.stream(body).finalResponse();
  };
  const turn = await ask();
  assert.equal(turn.output_text, "I will look.");
  assert.deepEqual(turn.output.map((item) => item.type), [
    "reasoning",
    "message",
    "function_call",
    "function_call",
  ]);
  assert.equal(turn.output[0].summary[0].text, "Two places, two calls.");
  assert.ok(turn.output[0].encrypted_content);
  assert.equal(turn.usage.output_tokens_details.reasoning_tokens, 12);
  const calls = turn.output.filter((item) => item.type === "function_call");
  assert.deepEqual(calls.map((call) => JSON.parse(call.arguments)), [first, second]);
  // The stream helper adds what it has parsed, which is no part of the API.
  for (const { parsed_arguments, ...item } of turn.output) {
    if (item.content) item.content = item.content.map(({ parsed, ...part }) => part);
    input.push(item);
  }
  for (const call of calls) input.push({ type: "function_call_output", call_id: call.call_id, output: "rain" });
  assert.equal((await ask()).output_text, final);
});

await both("Messages", async (stream) => {
  const tools = [{ ...describe, input_schema: schema }];
  const messages = [{ role: "user", content: question }];
  const ask = async () => {
    const body = { model: "m", max_tokens: 4096, thinking: { type: "enabled", budget_tokens: 1024 }, tools, messages };
    return stream ? anthropic.messages.stream(body).finalMessage() : anthropic.messages.create(body);
  };
  const turn = await ask();
  assert.deepEqual(turn.content.map((block) => block.type), ["thinking", "text", "tool_use", "tool_use"]);
  assert.equal(turn.content[0].thinking, "Two places, two calls.");
  assert.deepEqual([turn.content[2].input, turn.content[3].input], [first, second]);
  assert.equal(turn.stop_reason, "tool_use");
  assert.equal(turn.usage.input_tokens, 24);
  assert.equal(turn.usage.cache_read_input_tokens, 80);
  assert.equal(turn.usage.output_tokens, 30);
  messages.push({ role: "assistant", content: turn.content });
  const results = turn.content
    .filter((block) => block.type === "tool_use")
    .map((block) => ({ type: "tool_result", tool_use_id: block.id, content: "rain" }));
  messages.push({ role: "user", content: results });
  assert.equal((await ask()).content[0].text, final);
});

await both("generateContent", async (stream) => {
  const config = { tools: [{ functionDeclarations: [{ ...describe, parametersJsonSchema: schema }] }] };
  const contents = [{ role: "user", parts: [{ text: question }] }];
  // All parts of the answer, and what the last piece says.
  const ask = async () => {
    const body = { model: "m", contents, config };
    if (!stream) {
      const whole = await gemini.models.generateContent(body);
      return { parts: whole.candidates[0].content.parts, end: whole };
    }
    const parts = [];
    let end;
    for await (const piece of await gemini.models.generateContentStream(body)) {
      parts.push(...piece.candidates[0].content.parts);
      end = piece;
    }
    return { parts, end };
  };
  const said = (parts) => parts.filter((part) => part.text && !part.thought).map((part) => part.text).join("");
  const { parts, end } = await ask();
  assert.equal(said(parts), "I will look.");
  const thoughts = parts.filter((part) => part.thought).map((part) => part.text).join("");
  assert.equal(thoughts, "Two places, two calls.");
  const calls = parts.filter((part) => part.functionCall);
  assert.deepEqual(calls.map((part) => part.functionCall.args), [first, second]);
  assert.ok(calls[0].thoughtSignature && !calls[1].thoughtSignature);
  assert.equal(end.candidates[0].finishReason, "STOP");
  assert.equal(end.usageMetadata.thoughtsTokenCount, 12);
  assert.equal(end.usageMetadata.candidatesTokenCount, 18);
  contents.push({ role: "model", parts });
  const responses = calls.map(({ functionCall: { id, name } }) => ({
    functionResponse: { id, name, response: { result: "rain" } },
  }));
  contents.push({ role: "user", parts: responses });
  assert.equal(said((await ask()).parts), final);
});

await check("vectors", async () => {
  const told = await openai.embeddings.create({ model: "e", input: ["one", "two"], dimensions: 16 });
  const plain = await openai.embeddings.create({ model: "e", input: "two", dimensions: 16, encoding_format: "float" });
  assert.equal(told.data[1].embedding.length, 16);
  told.data[1].embedding.forEach((part, i) => assert.ok(Math.abs(part - plain.data[0].embedding[i]) < 1e-6));
});

const failing = {
  "Chat Completions": (content) =>
    openai.chat.completions.stream({ model: "m", messages: [{ role: "user", content }] }).finalChatCompletion(),
  Responses: (input) => openai.responses.stream({ model: "m", input }).finalResponse(),
  Messages: (content) =>
    anthropic.messages.stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content }] }).finalMessage(),
  generateContent: async (contents) => {
    for await (const piece of await gemini.models.generateContentStream({ model: "m", contents })) void piece;
  },
};
for (const [name, ask] of Object.entries(failing)) {
  await check(`${name}: a status`, () => assert.rejects(ask("please fail"), (error) => error.status === 429));
  await check(`${name}: an error inside the stream`, () => assert.rejects(ask("please break"), /overloaded/));
}

await check("what the SDKs sent", async () => {
  const requests = await asked();
  assert.ok(requests.length >= 26, `${requests.length} requests`);
  assert.deepEqual(requests.filter((request) => request.faults.length > 0), []);
});

mock.stdin.end();
console.log(`${checked} checks passed`);
