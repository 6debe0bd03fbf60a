package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.image.ImageParts;
import dev.warmpath.tokenizer.template.ChatTemplate;
import java.util.List;

/** Renders the chats of one model, those too that the engine makes of other requests. */
public interface ModelChats extends ChatTexts {

  /** Who put a chat together. */
  enum Origin {
    /** A client. */
    CLIENT,
    /** The engine, which checks it like a client's, but its list of tools may be empty. */
    CONVERTED,
    /** The engine, which does not check it again, so that calls keep the order of their keys. */
    BUILT
  }

  /**
   * The text of a chat request.
   *
   * @throws dev.warmpath.tokenizer.body.InexactPromptException if it is not known here
   */
  String render(ObjectNode body, Origin origin);

  /** The same of a chat whose images are added to {@code images}. */
  default String render(ObjectNode body, Origin origin, ImageParts images) {
    return render(body, origin);
  }

  @Override
  default String render(ObjectNode body) {
    return render(body, Origin.CLIENT);
  }

  @Override
  default String render(ObjectNode body, ImageParts images) {
    return render(body, Origin.CLIENT, images);
  }

  /**
   * The templates on which the engine tries whether a late system message is taken; without any it
   * expects that none is.
   */
  List<ChatTemplate> templates();
}
