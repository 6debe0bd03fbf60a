package dev.warmpath.tokenizer.image;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers of files that are made here and by the JDK, whole, cut off and spoiled. */
class ImageHeaderTest {

  private static final int FILES = 12_000;

  @Test
  void eachMadeFileSaysWhatItWasMadeWith() {
    MadeImages images = new MadeImages(new SplittableRandom(7));
    Map<String, Integer> kinds = new HashMap<>();
    for (int i = 0; i < FILES; i++) {
      MadeImages.Made made = images.next();
      assertThat(ImageHeader.read(made.file()))
          .as("%s %d", made.kind(), i)
          .isEqualTo(made.header());
      kinds.merge(made.kind(), 1, Integer::sum);
    }
    assertThat(kinds.keySet()).containsExactlyInAnyOrder("jpeg", "png", "gif", "bmp", "webp");
    assertThat(kinds.values()).allSatisfy(count -> assertThat(count).isGreaterThan(1000));
  }

  @Test
  void aSpoiledFileIsUnknownOrAPossibleImage() {
    MadeImages images = new MadeImages(new SplittableRandom(8));
    int unknown = 0;
    for (int i = 0; i < FILES; i++) {
      ImageHeader header = ImageHeader.read(images.spoiled(images.next().file()));
      unknown += header == null ? 1 : 0;
      if (header != null) {
        assertThat((long) header.width() * header.height()).isBetween(1L, 178_956_970L);
      }
    }
    assertThat(unknown).isBetween(FILES / 4, FILES * 9 / 10);
  }

  @Test
  void noiseIsUnknown() {
    SplittableRandom random = new SplittableRandom(9);
    for (int i = 0; i < FILES; i++) {
      byte[] noise = new byte[random.nextInt(64)];
      random.nextBytes(noise);
      if (noise.length > 0 && noise[0] != 'B') {
        assertThat(ImageHeader.read(noise)).isNull();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"jpeg", "png", "gif", "bmp"})
  void theJdksFilesAreRead(String format) throws IOException {
    SplittableRandom random = new SplittableRandom(10);
    for (int i = 0; i < 50; i++) {
      int width = 1 + random.nextInt(60);
      int height = 1 + random.nextInt(60);
      for (int type : List.of(BufferedImage.TYPE_INT_RGB, BufferedImage.TYPE_BYTE_GRAY)) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        assertThat(ImageIO.write(new BufferedImage(width, height, type), format, file)).isTrue();
        boolean rgb = type == BufferedImage.TYPE_INT_RGB && !format.equals("gif");
        assertThat(ImageHeader.read(file.toByteArray()))
            .isEqualTo(new ImageHeader(width, height, rgb));
      }
    }
  }
}
