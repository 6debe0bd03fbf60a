package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.image.ImageParts;

/** Turns request bodies of one kind into the text that an engine tokenizes. Thread-safe. */
@FunctionalInterface
public interface ChatTexts {

  /** Special tokens stand in the text as they are written. */
  int[] NO_SPECIALS = {};

  /**
   * The ids of special tokens that the texts hold as {@code encode.SpecialPlaceholders}, not to be
   * changed; {@link #NO_SPECIALS} if the engine looks for tokens in the text.
   */
  default int[] specialIds() {
    return NO_SPECIALS;
  }

  /**
   * The text of the chat in this request body, which is what Jackson reads with its defaults.
   *
   * @throws InexactPromptException if it is not known here
   */
  String render(ObjectNode body);

  /**
   * The same of a chat whose images are added to {@code images}.
   *
   * @throws InexactPromptException if it is not known here, or such images are not
   */
  default String render(ObjectNode body, ImageParts images) {
    return render(body);
  }

  /** Knows no chat, for one cause. */
  static ChatTexts inexact(FallbackCause cause, String detail) {
    return body -> {
      throw new InexactPromptException(cause, detail);
    };
  }
}
