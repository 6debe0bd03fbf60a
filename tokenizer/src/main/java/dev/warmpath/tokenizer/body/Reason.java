package dev.warmpath.tokenizer.body;

import java.util.Locale;

/** Why a prompt could not be rendered exactly. */
public enum Reason {
  /** The model has no chat template. */
  NO_TEMPLATE,
  /** The engine renders this model by other means than its template and tokenizer files. */
  UNSUPPORTED_MODEL,
  /** The template cannot be parsed, or refuses these messages as it will on the engine. */
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
  INVALID_REQUEST;

  /** The name in metrics and answers: lower case with underscores. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
