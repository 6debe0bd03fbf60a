package dev.warmpath.router.config;

import static dev.warmpath.router.config.ConfigKey.bool;
import static dev.warmpath.router.config.ConfigKey.choice;
import static dev.warmpath.router.config.ConfigKey.integer;
import static dev.warmpath.router.config.ConfigKey.text;
import static dev.warmpath.router.config.ConfigKey.texts;

import dev.warmpath.eventingest.sglang.SglangRules;
import java.util.List;

/** Keys of models, replicas and their health. */
final class FleetKeys {

  private static final long DAY_MS = 86_400_000;

  static final List<ConfigKey> ALL =
      List.of(
          text("models[].name", null, "Model as requests name it."),
          text(
              "models[].tokenizer",
              null,
              "Directory with the model's tokenizer files, a `tokenizer.json`, `hf://ORGANISATION/NAME[@REVISION]` (downloaded if Hugging Face's cache lacks it), or `embedded`."),
          text(
              "models[].chat-template",
              null,
              "File with the template of its engines, as their `--chat-template`; none: the model's own."),
          text(
              "models[].chat-template-kwargs",
              null,
              "JSON object in quotes, as their `--default-chat-template-kwargs`."),
          choice(
              "models[].content-format",
              "auto",
              List.of("auto", "string", "openai"),
              "As their `--chat-template-content-format`."),
          bool(
              "models[].exclude-tools-when-none",
              false,
              "As their `--exclude-tools-when-tool-choice-none`."),
          bool(
              "models[].trust-request-template",
              false,
              "As their `--trust-request-chat-template`: render with a template that a request brings."),
          text(
              "models[].time-zone",
              null,
              "Zone of their clock, such as `Europe/Berlin`, for templates that say the date; none: this machine's."),
          integer(
              "models[].max-model-len",
              0,
              0,
              100_000_000,
              "As their `--max-model-len`, for `truncate_prompt_tokens: -1`; 0: such requests are routed on load."),
          text("replicas[].name", null, "Name in metrics, headers and admin answers."),
          text("replicas[].url", null, "Base URL of the engine, `http://host:port`."),
          text(
              "replicas[].events", null, "ZMQ endpoint of the engine's KV events; none: no index."),
          text("replicas[].replay", null, "ZMQ endpoint that replays missed events."),
          bool("replicas[].bind", false, "Bind the events endpoint instead of connecting to it."),
          integer(
              "replicas[].ranks",
              1,
              1,
              1_024,
              "Data-parallel ranks; rank r has its events and replay at the port plus r."),
          choice(
              "replicas[].dialect",
              "vllm",
              List.of("vllm", "vllm-eagle", "sglang", "sglang-hybrid", "trtllm", "trtllm-hybrid"),
              "Kind of engine; `vllm-eagle` for vLLM to 0.32 with EAGLE or MTP, `…-hybrid` for SGLang"
                  + " and TensorRT-LLM with sliding windows or state layers."),
          choice(
              "replicas[].removals",
              null,
              List.of("per-copy", "last-copy"),
              "What a removal means of a block announced several times: one copy of it is gone, or it is; default: as usual for the dialect."),
          integer(
              "replicas[].max-blocks",
              0,
              0,
              1_000_000_000,
              "Most blocks that one rank can hold, in all tiers and groups; 0: as many as its GPU has by its own `/metrics`."),
          integer(
              "replicas[].full-reports-per-minute",
              0,
              0,
              600,
              "Requests a minute that may be made to announce again what the engine holds, while"
                  + " something was missed; vLLM since 0.26. 0: none, and no client does it."),
          text(
              "replicas[].hash-seed",
              null,
              "Its `PYTHONHASHSEED`, to find out how it makes its hashes; none: the usual ones."),
          bool(
              "replicas[].hidden-namespaces",
              true,
              "Whether requests that this router did not see may have had an `extra_key` (SGLang), or an adapter or"
                  + " `cache_salt` (TensorRT-LLM). false: never, so replays and what comes first are believed."),
          choice(
              "replicas[].event-format",
              "default",
              List.of("default", "dynamo"),
              "SGLang: the `format` of its `--kv-events-config`; with `dynamo` its hashes show an `extra_key`. It must be"
                  + " what the engine has: where it says `dynamo` and the engine does not, too much is credited."),
          texts(
              "replicas[].loras",
              "SGLang: its `--lora-paths`, each NAME=PATH as it was told; what is loaded later is not among them."),
          integer(
              "replicas[].load-back-tokens",
              SglangRules.LOAD_BACK_TOKENS,
              0,
              1_000_000,
              "SGLang: hits on the host shorter than this stay there (`load_back_threshold`)."),
          texts("replicas[].models", "Models it serves until `/v1/models` tells; empty: all."),
          integer("health.interval-ms", 2_000, 10, DAY_MS, "Time between two checks of a replica."),
          integer("health.timeout-ms", 1_000, 1, DAY_MS, "Time that a check may take."),
          integer("health.rise", 1, 1, 100, "Good checks in a row that bring a replica up."),
          integer("health.fall", 3, 1, 100, "Bad checks in a row that take a replica down."),
          integer(
              "health.metrics-interval-ms",
              5_000,
              0,
              DAY_MS,
              "Time between two looks at a replica's `/metrics` for restarts and sleep; 0: none."),
          integer(
              "health.engine-queue",
              0,
              0,
              1_000_000,
              "Requests that may wait in a replica's own queue, as its `/metrics` say; beyond, they wait here, where they can still go to another. 0: any number."));

  private FleetKeys() {}
}
