package dev.warmpath.tokenizer.chat;

import dev.warmpath.tokenizer.template.limit.TemplateException;
import java.util.Locale;

/**
 * What became of a chat request: the text that the engine tokenizes, or why it is not known.
 * Immutable.
 */
public sealed interface ChatPrompt {

  /**
   * The text, exactly.
   *
   * @param addSpecialTokens whether the engine lets its tokenizer add BOS and EOS on top
   */
  record Rendered(String text, boolean addSpecialTokens) implements ChatPrompt {
    @Override
    public String toString() {
      return "Rendered[chars=" + text.length() + ", addSpecialTokens=" + addSpecialTokens + "]";
    }
  }

  /**
   * No text.
   *
   * @param detail for people; holds names of fields and lines of templates, nothing of the chat
   */
  record Refused(Reason reason, String detail) implements ChatPrompt {

    /** What a template's failure means for the chat. */
    public static Refused of(TemplateException e) {
      Reason reason =
          e.kind() == TemplateException.Kind.RAISED
              ? Reason.TEMPLATE_ERROR
              : Reason.TEMPLATE_UNSUPPORTED;
      return new Refused(reason, "the template, line " + e.line() + ": " + e.kind());
    }
  }

  /** Why a chat could not be rendered exactly. */
  enum Reason {
    /** The model has no chat template, or none for this kind of request. */
    NO_TEMPLATE,
    /** The template refused the chat, as it will on the engine. */
    TEMPLATE_ERROR,
    /** The template does something that is not known here, or too much. */
    TEMPLATE_UNSUPPORTED,
    /** The request brings its own template, or arguments that change how it is applied. */
    REQUEST_TEMPLATE,
    /** The messages hold images, audio, video or files. */
    MULTIMODAL,
    /** The engine itself keeps a part of the messages. */
    STORED_HISTORY,
    /** Embeddings stand in the place of text. */
    PROMPT_EMBEDS,
    /** A field of the wrong type or value; the engine will refuse it or read it its own way. */
    INVALID_REQUEST;

    /** The name in metrics and answers: lower case with underscores. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
