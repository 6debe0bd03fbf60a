package dev.warmpath.tokenizer.encode;

import ai.djl.huggingface.tokenizers.jni.LibUtils;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;

/**
 * The native library, loaded once, with everything switched off that would reach for the network.
 */
final class NativeTokenizers {

  /*
   * Without these properties the loader asks a cloud metadata address who it is, reports that it was
   * started, and looks for a CUDA build to download. They are read while the library loads, so they
   * are set in this class's initializer and nowhere else is the library touched.
   */
  private static final TokenizersLibrary LIBRARY = load();

  private NativeTokenizers() {}

  static TokenizersLibrary library() {
    return LIBRARY;
  }

  private static TokenizersLibrary load() {
    System.setProperty("ai.djl.offline", "true");
    System.setProperty("OPT_OUT_TRACKING", "true");
    LibUtils.checkStatus();
    return TokenizersLibrary.LIB;
  }
}
