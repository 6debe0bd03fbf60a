package dev.warmpath.tokenizer.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.ImageForm.Algorithm;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Identifiers that vLLM 0.32's own code gave to these bytes. */
class ImageHasherTest {

  private static final byte[] FILE = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f");

  private static String identifier(boolean framed, Algorithm algorithm, boolean rgb) {
    return ImageHasher.identifier(new ImageForm(framed, algorithm, "/m"), FILE, rgb);
  }

  @Test
  void anImageOfRedGreenAndBlue() {
    assertThat(identifier(true, Algorithm.BLAKE3, true))
        .isEqualTo("ad10d6cd5c88ede4e1a2948a156d3919f31e25e88204c0884bafd1c33d865409");
  }

  @Test
  void anImageThatIsConverted() {
    assertThat(identifier(true, Algorithm.BLAKE3, false))
        .isEqualTo("55ad681f26af9dd55a23b222580bc09a35bd8d060089fa49201dff034d35d89a");
  }

  @Test
  void withoutAFramePiecesJoin() throws NoSuchAlgorithmException {
    assertThat(identifier(false, Algorithm.SHA256, true))
        .isEqualTo(sha256("image", "image", FILE, "model_id", "/m"));
    byte[] white = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(255).array();
    String background = "image.io_config.rgba_background_color.";
    assertThat(identifier(false, Algorithm.SHA256, false))
        .isEqualTo(
            sha256(
                "image",
                "image.io_config.image_mode",
                "RGB",
                background + 0,
                white,
                background + 1,
                white,
                background + 2,
                white,
                "image.data",
                FILE,
                "model_id",
                "/m"));
  }

  private static String sha256(Object... pieces) throws NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    for (Object piece : pieces) {
      digest.update(
          piece instanceof byte[] bytes
              ? bytes
              : String.valueOf(piece).getBytes(StandardCharsets.UTF_8));
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  @Test
  void eachFormGivesAnIdentifierOfItsOwn() {
    List<String> all =
        ImageForm.all("/m").stream().map(form -> ImageHasher.identifier(form, FILE, true)).toList();
    assertThat(all).hasSize(6).doesNotHaveDuplicates();
    assertThat(identifier(true, Algorithm.SHA512, true)).hasSize(128);
    assertThat(ImageHasher.identifier(new ImageForm(true, Algorithm.BLAKE3, "/n"), FILE, true))
        .isNotEqualTo(identifier(true, Algorithm.BLAKE3, true));
  }
}
