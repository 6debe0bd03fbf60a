package dev.warmpath.tokenizer.body;

import java.util.Locale;

/**
 * Why the tokens of a request's prompt are not known, so that load alone decides where it goes: the
 * label {@code cause} of {@code warmpath_fallbacks_total}. The first are found by the tokenizer,
 * the others by the process that uses it.
 */
public enum FallbackCause {
  /** The model has no chat template. */
  NO_TEMPLATE,
  /** The engine renders this model by other means than its template and tokenizer files. */
  UNSUPPORTED_MODEL,
  /**
   * The template cannot be parsed, or refuses these messages. The request is routed by load, and
   * the engine answers it with its own error.
   */
  TEMPLATE_ERROR,
  /** The template does what is not known here, or too much of it. */
  TEMPLATE_UNSUPPORTED,
  /** The request brings its own template, or arguments that change how it is applied. */
  REQUEST_TEMPLATE,
  /** The messages hold images, audio or video. */
  MULTIMODAL,
  /** The engine itself keeps a part of the messages. */
  STORED_HISTORY,
  /** Embeddings stand in the place of tokens or text. */
  PROMPT_EMBEDS,
  /** The request asks for a truncation that only the engine can compute. */
  TRUNCATION,
  /** The prompt comes with the transfer parameters of another engine. */
  KV_TRANSFER,
  /** The text holds half a surrogate pair, which no tokenizer takes. */
  MALFORMED_TEXT,
  /** A part of the text that cannot be cut is so long that its encoding could not be stopped. */
  UNCUTTABLE_TEXT,
  /** A name space of SGLang's ({@code extra_key}, {@code lora_path}) that cannot be told. */
  HIDDEN_NAMESPACE,
  /** The engine's date, which the prompt holds, is about to change or has just changed. */
  NEAR_MIDNIGHT,
  /** A token id that the model does not have. */
  TOKEN_OUT_OF_RANGE,
  /** A field of the wrong type or value; the engine will refuse it or read it its own way. */
  INVALID_REQUEST,
  /** The body is not a JSON object, or too deep. */
  BAD_JSON,
  /** No tokenizer is configured for the model. */
  NO_TOKENIZER,
  /** The model's tokenizer is being loaded. */
  LOADING,
  /** The model's tokenizer could not be loaded. */
  NOT_LOADED,
  /** The model's tokenizer was found to differ from an engine's. */
  QUARANTINED,
  /** The body is longer than a tokenizer thread may be busy with. */
  TOO_LONG,
  /** The body's objects take more memory than all prompts that are being read may. */
  NO_MEMORY,
  /** Too many prompts wait for a tokenizer thread. */
  QUEUE_FULL,
  /** Tokenizing took too long. */
  DEADLINE,
  /** The tokenizer failed, which is a bug of ours. */
  FAILURE,
  /** The request's path has no prompt, or none that an engine computes: not counted. */
  NO_PROMPT;

  /** The name in metrics and answers: lower case with underscores. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
